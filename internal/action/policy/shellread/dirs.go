package shellread

import "slices"

// maxDirs bounds the directories followed; beyond it they are unknown.
const maxDirs = 8

func startDirs() Dirs { return Dirs{Chains: [][]string{nil}} }

// Moved reports whether the part may run anywhere but in the start directory.
func (d Dirs) Moved() bool {
	return d.Unknown || len(d.Chains) != 1 || len(d.Chains[0]) > 0
}

func (d Dirs) enter(step string) Dirs {
	out := Dirs{Unknown: d.Unknown}
	for _, c := range d.Chains {
		out.Chains = append(out.Chains, append(slices.Clip(c), step))
	}
	return out
}

func (d Dirs) join(o Dirs) Dirs {
	out := Dirs{Chains: slices.Clip(d.Chains), Unknown: d.Unknown || o.Unknown}
	for _, c := range o.Chains {
		if !slices.ContainsFunc(out.Chains, func(x []string) bool { return slices.Equal(x, c) }) {
			out.Chains = append(out.Chains, c)
		}
	}
	if len(out.Chains) > maxDirs {
		return Dirs{Unknown: true}
	}
	return out
}
