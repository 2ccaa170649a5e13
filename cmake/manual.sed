# What scdoc leaves to be desired, for Manuals.cmake. It asks for words that are not cut (.nh), but
# before .TH, which forgets that; and its hyphens may come out as another character than the one of
# an option, and may be cut behind. (The one of \h'-04' is a number's.)
/^\.TH /a .nh
/^[.']/!{
    s/\\\{0,1\}-/\\-/g
    s/\\h'\\-/\\h'-/g
}
