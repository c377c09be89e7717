package answers

// claimPrefix, like formatKey, sorts before every source.
const claimPrefix = "\x00claim\x00"

// Claimed is the run that has claimed an output, as Claim was told; "" if none has.
func (s *Store) Claimed(output string) (run string, err error) {
	value, _, err := s.get([]byte(claimPrefix + output))
	return string(value), err
}

// Claim keeps which run writes an output, before there is anything of it. What a killed
// run leaves in the output's place can be told by it from what is somebody else's.
func (s *Store) Claim(output, run string) error {
	return s.set([]byte(claimPrefix+output), []byte(run))
}
