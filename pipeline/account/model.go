package account

// Model is what a model with which the embedded service answers says of itself.
type Model struct {
	Classification string `json:"classification"`
	Fingerprint    string `json:"fingerprint"`
	Labels         int    `json:"labels"`     // inputs that it is made of
	Categories     int    `json:"categories"` // different labels of these

	// The shares of right first answers to these inputs, each by a model of other inputs, and without a model.
	Right   float64         `json:"cross_validated_top_1"`
	Without float64         `json:"engine_top_1"`
	From    []ModelAccuracy `json:"by_confidence"` // by falling confidence
}

// ModelAccuracy is the share of the inputs whose first answer has at least a confidence, and the share of these answers that
// are right.
type ModelAccuracy struct {
	Confidence float64 `json:"confidence"`
	Inputs     float64 `json:"inputs"`
	Right      float64 `json:"right"`
}
