package runner

// maxSteps is further up than any process of a run that pid limits bound needs to look.
const maxSteps = 1100

// Inside implements source.Generators by the ancestry of the process: all of a
// run stands below its shim, in whatever namespace or session it is.
// A thread's number will do, too.
func (c *Client) Inside(pid uint32) (session string, ok bool) {
	if c.running.Load() == 0 || pid == 0 {
		return "", false
	}
	c.mu.Lock()
	shims := make(map[int]string, len(c.runs))
	for _, r := range c.runs {
		if r.pid != 0 {
			shims[r.pid] = r.session
		}
	}
	c.mu.Unlock()
	for range 3 { // a parent that ends meanwhile leaves the process to another
		at := int(pid)
		for range maxSteps {
			if session, ok := shims[at]; ok {
				return session, true
			}
			parent, ok := parentOf(at)
			if !ok {
				break
			}
			if parent <= 1 {
				return "", false
			}
			at = parent
		}
	}
	return "", false
}
