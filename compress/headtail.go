package compress

// HeadTail shortens text to about limit tokens (by ctxabi.Weight): its first
// and last lines, with one line between them that says how many lines and
// bytes are left out and where the whole stands (path). It cuts between lines
// where it can and never inside a UTF-8 sequence; a text within the limit comes
// back as it is with cut == false.
func HeadTail(text string, limit int, path string) (short string, cut bool) { panic("not built") }
