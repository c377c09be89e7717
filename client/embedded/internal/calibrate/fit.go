package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are the variables of a calibration in confidence.go, in the order of the coefficients.
var names = [...]string{"Base", "Score", "Margin", "Share", "Coverage", "Head", "Domain", "Whole", "Height", "Leaf", "Words", "WordsTop", "Kin"}

const coefficients = len(names)

// calibration holds the coefficients of a logistic function.
type calibration [coefficients]float64

func (c calibration) probability(evidence [coefficients]float64) float64 {
	z := 0.0
	for i := range c {
		z += c[i] * evidence[i]
	}
	return 1 / (1 + math.Exp(-z))
}

// improve takes one step of Newton's method towards the coefficients of greatest likelihood, with a weak ridge penalty. All
// coefficients but the base stay 0 or more: more evidence must never lower a confidence. The coefficients of variables that are
// not named stay 0.
func improve(c calibration, sets [][]entry, variables []string) calibration {
	const n, ridge = coefficients, 1e-4
	var gradient [n]float64
	var hessian [n][n + 1]float64 // the last column is the gradient
	for _, set := range sets {
		for _, e := range set {
			p := c.probability(e.evidence)
			for i := range n {
				gradient[i] += e.weight * (zeroOrOne(e.right) - p) * e.evidence[i]
				for j := range n {
					hessian[i][j] += e.weight * p * (1 - p) * e.evidence[i] * e.evidence[j]
				}
			}
		}
	}
	for i := range n {
		if i > 0 {
			gradient[i] -= ridge * c[i]
		}
		hessian[i][i] += ridge
		hessian[i][n] = gradient[i]
		if i > 0 && (c[i] == 0 && gradient[i] <= 0 || !slices.Contains(variables, names[i])) { // the coefficient stays at its bound
			hessian[i] = [n + 1]float64{}
			hessian[i][i] = 1
		}
	}
	step := solve(hessian)
	for i := range n {
		c[i] += step[i]
		if i > 0 {
			c[i] = max(c[i], 0)
		}
	}
	return c
}

func zeroOrOne(right bool) float64 {
	if right {
		return 1
	}
	return 0
}

// loss is the weighted mean of -log(p), where p is the probability given to the true outcome.
func loss(c calibration, sets [][]entry) float64 {
	sum, weight := 0.0, 0.0
	for _, set := range sets {
		for _, e := range set {
			p := c.probability(e.evidence)
			if !e.right {
				p = 1 - p
			}
			sum -= e.weight * math.Log(p)
			weight += e.weight
		}
	}
	return sum / weight
}

// solve solves linear equations by Gaussian elimination.
func solve(m [coefficients][coefficients + 1]float64) (x [coefficients]float64) {
	for i := range m {
		pivot := i
		for r := i + 1; r < len(m); r++ {
			if math.Abs(m[r][i]) > math.Abs(m[pivot][i]) {
				pivot = r
			}
		}
		m[i], m[pivot] = m[pivot], m[i]
		for r := range m {
			if r != i {
				f := m[r][i] / m[i][i]
				for c := i; c <= len(m); c++ {
					m[r][c] -= f * m[i][c]
				}
			}
		}
	}
	for i := range m {
		x[i] = m[i][len(m)] / m[i][i]
	}
	return x
}

// String is the calibration as confidence.go has it: without coefficients of 0.
func (c calibration) String() string {
	var members []string
	for i, v := range c {
		if text := fmt.Sprintf("%.3f", v); strings.Trim(text, "-0.") != "" {
			members = append(members, "of"+names[i]+": "+text)
		}
	}
	return "calibration{" + strings.Join(members, ", ") + "}"
}

func calibrationLine(fit string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\t` + fit + ` += )calibration\{(.*)\}$`)
}

// parseCalibration reads the named calibration from the text of confidence.go.
func parseCalibration(text, fit string) (c calibration, err error) {
	line := calibrationLine(fit).FindStringSubmatch(text)
	if line == nil {
		return c, fmt.Errorf("%s has no %s", source, fit)
	}
	for member := range strings.SplitSeq(line[2], ", ") {
		name, value, _ := strings.Cut(strings.TrimPrefix(member, "of"), ": ")
		i := slices.Index(names[:], name)
		if i < 0 {
			return c, fmt.Errorf("member %q of %s is of no known variable", member, fit)
		}
		if c[i], err = strconv.ParseFloat(value, 64); err != nil {
			return c, fmt.Errorf("member %q of %s: %w", member, fit, err)
		}
	}
	return c, nil
}

// replaceCalibration replaces the named calibration in the text of confidence.go.
func replaceCalibration(text, fit string, c calibration) string {
	return calibrationLine(fit).ReplaceAllString(text, "${1}"+c.String())
}
