/** What an editor offers within the options of the constructors: our names, and none of those that are only answered with a sentence. */
import { join } from "node:path"
import { assert, it } from "vitest"
import ts from "typescript-5.9"
import { root } from "../../scripts/files.ts"

const file = join(root, "test/types/completion.ts")
const imports =
  'import { Agent, Recovery, Router, Skill, Tool } from "@kintsugi/core"\n' +
  'import { Durable } from "@kintsugi/durable"\nconst clerk = Agent.make("clerk", {})\n'

/** The names that belong where the bar stands. */
const offered = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, "tsconfig.check.json"), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    root
  )
  let text = imports
  const service = ts.createLanguageService({
    readDirectory: (...found) => ts.sys.readDirectory(...found),
    directoryExists: (path) => ts.sys.directoryExists(path),
    getDirectories: (path) => ts.sys.getDirectories(path),
    getCompilationSettings: () => ({ ...options, noEmit: true, incremental: false }),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [file],
    getScriptVersion: (path) => (path === file ? text : ""),
    getScriptSnapshot: (path) => {
      const found = path === file ? text : ts.sys.readFile(path)
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found)
    },
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: (path) => (path === file ? text : ts.sys.readFile(path))
  })
  return lines.map((line) => {
    text = imports + line.replace("|", "")
    const found = service.getCompletionsAtPosition(file, (imports + line).indexOf("|"), {})
    // names of variables and keywords sort behind
    return (found?.entries ?? []).filter(({ sortText }) => sortText < "15").map(({ name }) => name)
  })
}

it("an editor offers the options of agents, tools, skills and budgets, and nothing else", () => {
  const starts = {
    'Agent.make("a", { | })': "prompt",
    'Agent.make("a", { pro| })': "prompt",
    'Agent.make("a", { inst| })': "prompt",
    'Agent.make("a", { budget: { max| } })': "maxTurns",
    'Tool.make("t", { para| })': "parameters",
    'Skill.make("s", { pro| })': "prompt",
    'Skill.deterministic("s", { ru| })': "run",
    'Agent.make("a", {}).pipe(Agent.withBudget({ max| }))': "maxTurns",
    "Agent.withBudget(clerk, { max| })": "maxTurns",
    "Agent.asTool(clerk, { desc| })": "description",
    "Agent.asTool(clerk, { inst| })": "description",
    "Router.byModel({ thr| })": "threshold",
    "Router.byRule(() => undefined, { inst| })": "prompt",
    "Recovery.fix(clerk, { re| })": "retries",
    "Durable.workflow(clerk, { na| })": "name"
  }
  const foreign = new Set(["instructions", "system", "maxSteps", "inputSchema", "execute", "stopWhen"])
  for (const [index, names] of offered(Object.keys(starts)).entries()) {
    const [line = "", expected = ""] = Object.entries(starts)[index] ?? []
    assert.include(names, expected, line)
    assert.deepStrictEqual(
      names.filter((name) => foreign.has(name) || !/^\w+$/.test(name)),
      [],
      line
    )
  }
}, 120_000)
