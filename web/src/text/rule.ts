// Permission rules as people write them: Tool or Tool(content).

import type { Rule, Suggestion } from '../wire'

export function ruleText(r: Rule): string {
  return r.ruleContent ? `${r.toolName}(${r.ruleContent})` : r.toolName
}

// readRule returns the rule, or a sentence that says what is wrong with it. An edited rule stays one of the same tool.
export function readRule(text: string, tool: string): Rule | string {
  const t = text.trim()
  const open = t.indexOf('(')
  const name = open < 0 ? t : t.slice(0, open)
  if (name !== tool) return `the rule must begin with ${tool}`
  if (open < 0) return { toolName: name }
  if (!t.endsWith(')') || open + 1 === t.length - 1) return `a rule has the form ${tool}(…)`
  return { toolName: name, ruleContent: t.slice(open + 1, -1) }
}

// lasting tells of a grant that is written to a file.
export function lasting(s: Suggestion): boolean {
  return s.destination !== 'session' && s.destination !== 'cliArg' && s.type !== 'setMode'
}

export const places: Record<string, string> = {
  session: 'until this session ends',
  localSettings: 'in .claude/settings.local.json, for you in this project',
  projectSettings: 'in .claude/settings.json, for everybody in this project',
  userSettings: 'in ~/.claude/settings.json, for you in all projects',
}

export function place(destination: string): string {
  return places[destination] ?? destination
}
