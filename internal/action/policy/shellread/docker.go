package shellread

import "sync"

const asksDaemon = "asks the default daemon; another host or context is left out"

// dockerCommands are the subcommands of the read-only set. inspect and exec are
// not: the first prints environments, the second runs programs.
var dockerCommands = sync.OnceValue(func() map[string]*program {
	ps := &program{why: asksDaemon, operands: none, opts: "-a -f= -n= -l -q -s --all --filter= --format= --last= --latest --no-trunc --quiet --size"}
	images := &program{why: asksDaemon, operands: text, opts: "-a -f= -q --all --digests --filter= --format= --no-trunc --quiet --tree"}
	return withGrammars(map[string]*program{
		"ps":           ps,
		"images":       images,
		"version":      {why: asksDaemon, operands: none, opts: "-f= --format="},
		"logs":         {why: asksDaemon, operands: text, most: 1, opts: "-n= -t --tail= --since= --until= --timestamps --details"},
		"port":         {why: asksDaemon, operands: text, most: 2},
		"top":          {why: asksDaemon, operands: text, most: 1},
		"history":      {why: asksDaemon, operands: text, most: 1, opts: "-H -q --format= --human --no-trunc --quiet"},
		"container ls": ps,
		"image ls":     images,
		"network ls":   {why: asksDaemon, operands: none, opts: "-f= -q --filter= --format= --no-trunc --quiet"},
		"volume ls":    {why: asksDaemon, operands: none, opts: "-f= -q --filter= --format= --quiet"},
	})
})

func judgeDocker(_ *program, words []Word) verdict {
	for _, w := range words[1:] {
		if w.Holes != 0 {
			return unknown("an argument is only known at run time")
		}
	}
	for n := 1; n <= 2 && n < len(words); n++ {
		key := joinWords(words[1:n+1], plainText)
		if prog, ok := dockerCommands()[key]; ok {
			guarded := *prog
			guarded.guarded = true
			return guarded.judge(words[n:], false)
		}
	}
	return unknown("the docker form is not in the read-only set")
}
