package answers

// flushBytes are written at once.
const flushBytes = 256 << 10

// appender packs answers and writes them behind those that are there. What it has written
// counts only once the database has the states of the segments.
type appender struct {
	segments *segments
	segment  *segment
	packer   packer
	at       position // of the pack that is being filled
	packs    []byte   // not written yet
	answers  uint64   // in them
}

// add appends an answer's value, and gives the position of its pack.
func (a *appender) add(value []byte) (position, error) {
	if a.packer.count == 0 {
		if err := a.beginPack(); err != nil {
			return 0, err
		}
	}
	a.packer.add(value)
	at := a.at
	if a.packer.isFull() {
		return at, a.endPack()
	}
	return at, nil
}

// beginPack finds a place for a pack.
func (a *appender) beginPack() (err error) {
	switch {
	case a.segment == nil:
		a.segment, err = a.segments.current()
	case a.behind()-a.segment.base >= segmentBytes:
		if err = a.flush(); err == nil {
			a.segment, err = a.segments.begin()
		}
	}
	if err == nil {
		a.at = a.behind()
	}
	return err
}

// behind is the position behind what was packed.
func (a *appender) behind() position { return a.segment.end + position(len(a.packs)) }

func (a *appender) endPack() error {
	a.answers += uint64(a.packer.count)
	a.packs = a.packer.appendPack(a.packs, a.at)
	if len(a.packs) >= flushBytes {
		return a.flush()
	}
	return nil
}

// flush writes what was packed.
func (a *appender) flush() error {
	g := a.segment
	if _, err := g.file.WriteAt(a.packs, int64(g.end-g.base)); err != nil {
		return err
	}
	a.segments.grow(g, len(a.packs), a.answers)
	a.packs, a.answers = a.packs[:0], 0
	return nil
}

// end makes durable all that was added, and all marks.
func (a *appender) end() error {
	if a.packer.count > 0 {
		if err := a.endPack(); err != nil {
			return err
		}
	}
	if a.segment != nil {
		if err := a.flush(); err != nil {
			return err
		}
	}
	return a.segments.sync()
}
