package answers

import "strconv"

// ratePrefix, like formatKey, sorts before every source.
const ratePrefix = "\x00rate\x00"

// LearnedRate is the rate of the service, in requests a second, that an earlier run
// has learned; 0 if none has.
func (s *Store) LearnedRate() (float64, error) {
	value, found, err := s.get([]byte(ratePrefix + s.options.Source))
	if err != nil || !found {
		return 0, err
	}
	learned, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(learned > 0 && learned < 1e6) {
		return 0, nil // learned anew
	}
	return learned, nil
}

// KeepLearnedRate keeps the rate for the next run.
func (s *Store) KeepLearnedRate(perSecond float64) error {
	return s.set([]byte(ratePrefix+s.options.Source), strconv.AppendFloat(nil, perSecond, 'f', 3, 64))
}
