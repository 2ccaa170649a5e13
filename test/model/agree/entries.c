/*
 * Whether an entry of A and one of B are the same server.  A common master keeps which process B's
 * entry had, since when at the latest and until when at least, by its own clock.  Clients of B say
 * it; a client of A looks, and compares it with the process that it is connected to.  Each question
 * may be under way for any time, and so may an answer.
 *
 * A sayer's answers are heard at once here: one that is heard later proves less.
 */
#include "world.h"

/* ---- what the master keeps ------------------------------------------------------------------ */

static void keep(const struct rules *rules, struct fact *fact, const struct fact *said)
{
    if (!said->run) {
        if (broken(rules, UNHEARD_ERASES))
            *fact = *said;
    } else if (fact->run == said->run) {
        fact->until = larger(fact->until, said->until);
        if (broken(rules, SINCE_MOVES))
            fact->since = said->since;
    } else if (said->until > fact->until || !fact->run || broken(rules, OLDER_RUN_REPLACES)) {
        *fact = *said;
    }
}

/* With no rule broken. */
static void keep_what_is_proved(struct fact *fact, const struct fact *said)
{
    keep(&(struct rules){.mutant = NONE}, fact, said);
}

static bool has_less(const struct fact *fact, const struct fact *proved)
{
    return fact->run != proved->run || fact->until < proved->until || fact->since > proved->since;
}

/* ---- those that say B ----------------------------------------------------------------------- */

static void take(const struct visit *v, enum act act, int c, struct world *next, enum wrong wrong)
{
    struct step step = {.act = act, .client = c, .wrong = wrong};
    v->visit(v->visitor, &step, next);
}

static const struct server *server_of_b(const struct rules *rules, const struct entries *entries)
{
    bool is_another = rules->question == REPLACED || broken(rules, TWO_SERVERS);
    return &entries->server[is_another];
}

static void sayer_connects(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct sayer *sayer = &next.entries.sayer[c];
    uint8_t run = server_of_b(v->rules, &next.entries)->run;
    if (sayer->run == run)
        return;
    sayer->run = run;
    sayer->is_proved = false;
    take(v, CONNECT, c, &next, FINE);
}

/* Any answer of the process will do. */
static void sayer_proves(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct sayer *sayer = &next.entries.sayer[c];
    if (!sayer->told || sayer->is_proved || sayer->run != server_of_b(v->rules, &next.entries)->run)
        return;
    sayer->is_proved = true;
    take(v, PROVE, c, &next, FINE);
}

static void sayer_sends(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct sayer *sayer = &next.entries.sayer[c];
    if (sayer->says)
        return;
    sayer->says = true;
    if (sayer->is_proved || (broken(v->rules, UNPROVED_SAID) && sayer->told))
        sayer->said = sayer->run;
    sayer->echo = sayer->told;
    take(v, SEND, c, &next, FINE);
}

static void sayer_is_answered(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct entries *entries = &next.entries;
    struct sayer *sayer = &entries->sayer[c];
    struct fact said = {sayer->said, entries->now, sayer->echo};
    if (!sayer->says)
        return;
    if (broken(v->rules, DATED_ON_ARRIVAL))
        said.until = entries->now;
    keep(v->rules, &entries->fact, &said);
    keep_what_is_proved(&entries->proved, &said);
    sayer->says = false;
    sayer->told = entries->now;
    sayer->is_proved &= broken(v->rules, PROVED_BEFORE);
    take(v, CARRY_OUT, c, &next, FINE);
}

/* ---- the one that compares ------------------------------------------------------------------ */

static bool looks_other(const struct rules *rules, const struct looker *looker)
{
    const struct fact *word = &looker->word;
    bool is_older = looker->started < word->until || broken(rules, YOUTH_UNALLOWED);
    bool is_alive = word->since < looker->answered || broken(rules, DEAD_CONNECTION_COUNTS);
    return word->run && looker->answered && word->run != looker->run && is_older && is_alive;
}

static enum wrong judged(const struct rules *rules, const struct entries *entries)
{
    bool is_wrong = rules->question == RENAMED && looks_other(rules, &entries->looker);
    return is_wrong ? LOOKS_OTHER : FINE;
}

static void looker_connects(const struct visit *v)
{
    struct world next = *v->now;
    struct looker *looker = &next.entries.looker;
    if (looker->run == next.entries.server[0].run)
        return;
    looker->run = next.entries.server[0].run;
    looker->started = looker->answered = 0;
    looker->asks = (struct question_sent){0};
    take(v, LOOKER_CONNECTS, 0, &next, FINE);
}

static uint8_t moment(int tick)
{
    return (uint8_t)(tick < 0 ? 0 : least(tick, LAST_TICK));
}

/* The age that a master tells counts from the moment at which it is heard, or was asked for. */
static uint8_t from_when_heard(uint8_t told, const struct question_sent *question, int now)
{
    return moment(told + now - question->at);
}

static uint8_t from_when_sent(uint8_t told, const struct question_sent *question)
{
    return moment(told - (question->at - question->sent));
}

static void hear_process(const struct visit *v, struct world *next)
{
    struct entries *entries = &next->entries;
    struct looker *looker = &entries->looker;
    const struct question_sent *asked = &looker->asks;
    looker->answered = broken(v->rules, ASKED_WHEN_HEARD) ? entries->now : asked->sent;
    looker->started = broken(v->rules, STARTED_WHEN_SENT)
                          ? from_when_sent(looker->begun, asked)
                          : from_when_heard(looker->begun, asked, entries->now);
    looker->asks = (struct question_sent){0};
    take(v, HEAR_PROCESS, 0, next, judged(v->rules, entries));
}

static void looker_asks(const struct visit *v)
{
    struct world next = *v->now;
    struct entries *entries = &next.entries;
    struct looker *looker = &entries->looker;
    const struct server *server = &entries->server[0];
    if (looker->asks.stage == IDLE && looker->run) {
        looker->asks = (struct question_sent){SENT, entries->now, 0};
        take(v, ASK_PROCESS, 0, &next, FINE);
    } else if (looker->asks.stage == SENT && looker->run == server->run) {
        looker->asks.stage = CARRIED_OUT;
        looker->asks.at = entries->now;
        looker->begun = server->started;
        take(v, PROCESS_ANSWERS, 0, &next, FINE);
    } else if (looker->asks.stage == CARRIED_OUT) {
        hear_process(v, &next);
    }
}

static void hear_master(const struct visit *v, struct world *next)
{
    struct entries *entries = &next->entries;
    struct looker *looker = &entries->looker;
    const struct question_sent *looked = &looker->looks;
    const struct fact *told = &looker->told;
    looker->word.run = told->run;
    looker->word.since = broken(v->rules, SINCE_WHEN_SENT)
                             ? from_when_sent(told->since, looked)
                             : from_when_heard(told->since, looked, entries->now);
    looker->word.until = broken(v->rules, UNTIL_WHEN_HEARD)
                             ? from_when_heard(told->until, looked, entries->now)
                             : from_when_sent(told->until, looked);
    looker->looks = (struct question_sent){0};
    take(v, HEAR_MASTER, 0, next, judged(v->rules, entries));
}

static void looker_looks(const struct visit *v)
{
    struct world next = *v->now;
    struct entries *entries = &next.entries;
    struct looker *looker = &entries->looker;
    if (looker->looks.stage == IDLE) {
        looker->looks = (struct question_sent){SENT, entries->now, 0};
        take(v, LOOK, 0, &next, FINE);
    } else if (looker->looks.stage == SENT) {
        bool lost = v->rules->question == REPLACED && has_less(&entries->fact, &entries->proved);
        looker->looks.stage = CARRIED_OUT;
        looker->looks.at = entries->now;
        looker->told = entries->fact;
        take(v, MASTER_TELLS, 0, &next, lost ? LOOKS_SAME : FINE);
    } else {
        hear_master(v, &next);
    }
}

/* ---- all steps ------------------------------------------------------------------------------ */

static void server_restarts(const struct visit *v)
{
    struct world next = *v->now;
    if (!next.restarts)
        return;
    next.restarts--;
    next.entries.server[0].run++;
    next.entries.server[0].started = next.entries.now;
    take(v, SERVER_RESTARTS, 0, &next, FINE);
}

void entries_steps(const struct visit *v)
{
    struct world next = *v->now;
    for (int c = 0; c < v->rules->seconds; c++) {
        sayer_connects(v, c);
        sayer_proves(v, c);
        sayer_sends(v, c);
        sayer_is_answered(v, c);
    }
    looker_looks(v);
    if (v->rules->question == RENAMED) {
        looker_connects(v);
        looker_asks(v);
    }
    server_restarts(v);
    if (next.entries.now == v->rules->ticks)
        return;
    next.entries.now++;
    take(v, TICK, 0, &next, FINE);
}

void entries_begin(const struct visit *v)
{
    struct world world = {.restarts = v->rules->restarts};
    world.entries.now = 1;
    for (int i = 0; i < 2; i++)
        world.entries.server[i] = (struct server){.run = i + 1, .started = 1};
    v->visit(v->visitor, NULL, &world);
}
