#include "question.h"

#include <termios.h>
#include <unistd.h>

#include "say.h"

static void on_input(struct ev_loop *loop, ev_io *input, int events)
{
    struct question *question = input->data;
    char line[100];
    ssize_t length = read(STDIN_FILENO, line, sizeof line);
    (void)events;
    ev_io_stop(loop, input);
    question->answered(question->owner, length > 0 && (line[0] == 'y' || line[0] == 'Y'));
}

/* Input that was typed before the question is no answer to it. */
void question_ask(struct question *question, struct ev_loop *loop, struct text *line)
{
    struct text all = {0};
    tcflush(STDIN_FILENO, TCIFLUSH);
    text_format(&all, "redlock: %s [y/N] ", line->bytes);
    say_text(&all);
    text_free(&all);
    text_free(line);
    ev_io_init(&question->input, on_input, STDIN_FILENO, EV_READ);
    question->input.data = question;
    ev_io_start(loop, &question->input);
}

void question_drop(struct question *question, struct ev_loop *loop)
{
    ev_io_stop(loop, &question->input);
}
