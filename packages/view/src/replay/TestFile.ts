/**
 * Writes the test of a script as one TypeScript file, for Vitest and `@kintsugi/core/testing`. The test plays the recorded run on a virtual
 * clock: it calls no model, and no function of the tools. It is green if the run goes on where the recorded run has failed.
 */
import { agentCode } from "./agentCode.ts"
import { Code } from "./code.ts"
import { inComment, list, literal, quoted } from "./literals.ts"
import { outcomeOf } from "../recording/Outcome.ts"
import type { Recording } from "../recording/Recording.ts"
import type { AgentScript, Script } from "./parts.ts"
import { isScript, of } from "./Script.ts"

/** Writes the file. */
export const write = (script: Script): string => {
  const code = new Code(script)
  const root = script.agents.at(-1)
  if (root === undefined) throw new TypeError("TestFile.write: the script has no agent")
  const agents = script.agents.map((agent) => agentCode(agent, script, code))
  const test = testCode(script, root, code)
  const body = [
    code.errors(),
    code.helpers(),
    ...agents.map(({ recorded }) => recorded),
    "// --- Your place: write the row here. Your own tables, tools and agents may replace these, which do what was recorded.",
    ...agents.map(({ standIn }) => standIn),
    "// --- The test",
    test
  ]
  const whole = body.filter((part) => part !== "").join("\n\n")
  return `${headOf(script, root)}\n${code.imports(whole)}\n\n${whole}\n`
}

/** The option `test` of a page: the test of the run that the page is about, if that run can be played again. */
export const forPage = (recording: Recording): { readonly test?: string } => {
  const outcome = outcomeOf(recording)
  const script = outcome === undefined ? undefined : of(recording, { runId: outcome.runId })
  return script !== undefined && isScript(script) ? { test: write(script) } : {}
}

const headOf = (script: Script, { name }: AgentScript): string => {
  const at = new Date(script.at)
  const time = Number.isNaN(at.getTime()) ? "an unknown time" : `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`
  const { end } = script
  const what =
    end.type === "completed"
      ? ["It completed, and so does this test."]
      : end.type === "interrupted"
        ? ["It was interrupted, and so is this test."]
        : [
            `It failed: ${oneLine(end.failure.message === "" ? end.failure.tag : `${end.failure.tag}: ${end.failure.message}`)}`,
            `Where: ${end.tool === undefined ? `the run of '${end.agent}'` : `the tool '${end.tool}' of '${end.agent}'`}. The test fails as the run did, until ${untilOf(end)}.`
          ]
  return [
    "/**",
    ` * A run of '${inComment(oneLine(name))}' of ${time}, which \`kintsugi test\` has written from its events.`,
    ...what.map((line) => ` * ${inComment(line)}`),
    " */"
  ].join("\n")
}

const untilOf = (end: Extract<Script["end"], { readonly type: "failed" }>): string => {
  if (end.isDefect) return "the defect is mended: no row handles it"
  if (end.failure.tag === "BudgetExceededError") return "the budget admits more"
  if (end.advised === undefined) return "a row answers in its place"
  return end.advised.entry === undefined ? "another model answers" : "a row handles it"
}

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

const testCode = (script: Script, root: AgentScript, code: Code): string => {
  const { decisions, end, input, isStreamed } = script
  const agent = code.nameOf(root.name)
  const isInterrupted = end.type === "interrupted"
  const run = isStreamed ? `${code.use("outputOf")}(${agent}.stream(input))` : `${agent}(input)`
  const decided = decisions.map(({ after, decision }) =>
    decision === undefined ? "Effect.never" : `ScriptedApprover.after(${after}, ${literal(decision)})`
  )
  const title =
    end.type === "failed"
      ? `${root.name} goes on after ${end.failure.tag}`
      : `${root.name} ${isInterrupted ? "is interrupted" : "answers"} as recorded`
  const wanted = end.type === "completed" ? `${quoted(end.text)}` : isInterrupted ? "true" : "beyond"
  const said = quoted(input)
  return [
    `const input =${said.length > 105 ? "\n  " : " "}${said}`,
    "",
    "const program = Effect.gen(function* () {",
    ...(code.needsApprover ? [list("  const approver = yield* ScriptedApprover.make", "(", decided, ")", "  ")] : []),
    `  const run = yield* Effect.forkChild(${run}${code.needsApprover ? ".pipe(Effect.provide(approver.layer))" : ""}, { startImmediately: true })`,
    `  yield* TestClock.adjust(${waitOf(script)})`,
    ...(isInterrupted
      ? ["  yield* Fiber.interrupt(run)", "  return Exit.hasInterrupts(yield* Fiber.await(run))"]
      : ["  return yield* Fiber.join(run)"]),
    "}).pipe(Effect.scoped, Effect.provide(TestClock.layer()))",
    "",
    ...(wanted.length > 60 ? [`const wanted =${wanted.length > 105 ? "\n  " : " "}${wanted}`, ""] : []),
    `it(${quoted(title)}, async () => {`,
    `  expect(await Effect.runPromise(program)).toBe(${wanted.length > 60 ? "wanted" : wanted})`,
    "})"
  ].join("\n")
}

/** How long the virtual clock runs: until the interruption, or long enough for the run and what goes on behind it. */
const waitOf = ({ end, lasted }: Script): string => {
  if (end.type === "interrupted") return String(end.after)
  const days = 1 + Math.ceil((2 * lasted) / 86_400_000)
  return `"${days === 1 ? "1 day" : `${days} days`}"`
}
