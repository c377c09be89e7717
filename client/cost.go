package client

// Costs are what requests take from the account, learned from how it shrinks: services
// differ in whether they charge for what they refuse or fail at.
type Costs struct {
	Answer    float64 // of an answered request
	Rejection float64 // of one that was refused for its input
	Failure   float64 // of a failed attempt

	normal [3][4]float64 // least squares: the normal equations and their right side
}

// Spending is what happened between two looks at the account.
type Spending struct {
	Answers, Rejections, Failures int64
	Spent                         int64 // that remaining went down by
}

// NewCosts starts from the usual terms: an answer costs one, a failure nothing, and a
// rejection nobody knows.
func NewCosts() *Costs {
	c := &Costs{Answer: 1, Rejection: 0.5}
	const faith = 25 // in the usual terms: some dozens of requests outweigh it
	for i, usual := range []float64{c.Answer, c.Rejection, c.Failure} {
		c.normal[i][i] = faith
		c.normal[i][3] = faith * usual
	}
	return c
}

// Observe learns from a stretch of the run. One in which the account grew, because it
// was topped up, teaches nothing.
func (c *Costs) Observe(s Spending) {
	if s.Spent < 0 {
		return
	}
	x := [3]float64{float64(s.Answers), float64(s.Rejections), float64(s.Failures)}
	for i := range x {
		for j := range x {
			c.normal[i][j] += x[i] * x[j]
		}
		c.normal[i][3] += x[i] * float64(s.Spent)
	}
	solved := solve(c.normal)
	c.Answer, c.Rejection, c.Failure = max(solved[0], 0), max(solved[1], 0), max(solved[2], 0)
}

// solve is Gaussian elimination; the matrix is positive definite, so no pivot is zero.
func solve(m [3][4]float64) (x [3]float64) {
	for i := range m {
		for k := i + 1; k < len(m); k++ {
			factor := m[k][i] / m[i][i]
			for j := i; j < len(m[k]); j++ {
				m[k][j] -= factor * m[i][j]
			}
		}
	}
	for i := len(m) - 1; i >= 0; i-- {
		x[i] = m[i][3]
		for j := i + 1; j < len(m); j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x
}

// PerRecord is what one more record takes, given how the attempts so far went.
func (c *Costs) PerRecord(answers, rejections, failures int64) float64 {
	records := answers + rejections
	if records == 0 {
		return c.Answer
	}
	return (c.Answer*float64(answers) + c.Rejection*float64(rejections) + c.Failure*float64(failures)) / float64(records)
}
