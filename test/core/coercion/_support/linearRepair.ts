/**
 * A program: repairs texts that are sixteen times as large as others, and prints the time of both in milliseconds; then that of
 * one reply with 32 calls whose arguments are hard to read.
 */
import { Agent, Coercion, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"

export interface Measured {
  readonly what: string
  readonly small: number
  readonly large: number
}

const kibi = 1024

/** What stands before, between and after: the middle is repeated. */
const texts: ReadonlyArray<readonly [before: string, repeated: string, after: string]> = [
  ["{", '\\"a\\":', "}"],
  ["[", '"a" ', "]"],
  ["{", '"a":1 ', "}"],
  ["[", "1 ", "]"],
  ['{"a":', '"', "}"],
  ['{"a":', '"x', "}"],
  ['{"a":"', '["]', '"}'],
  ['{"a":"', '" //', ""],
  ['{"a":"', '" /*', ""],
  ['{"a":"', ',"', '"}'],
  ['{"a":"', 'b,"a":"', '"}'],
  ['{"a":', '"a:', "}"],
  ["{", "'a:b,", "}"],
  ["[", '"a,', "]"],
  ["[", "'", "]"],
  ["[", '"a"+', "]"],
  ["[", '"a"    ', "]"],
  ["[", ' "a"  \n', "]"],
  ['["a', '"  ', '"]'],
  ['["a', '"  "   ', '"]'],
  ["[", "... ", "]"],
  ["[", "//\n", "]"],
  ["[", "1", "x]"],
  ["[1", " ", "x]"],
  ["[a", " ", '"b]'],
  ["{a:1}", "}", "x"],
  ["[“", "“", "”]"],
  ["{a:'", "\\'", "'}"],
  ["", '{"a":[', ""],
  ["", "[", ""],
  ["```", " \n", "x"],
  ["", "```", "{a:1}"],
  ["", "\\\\n", '{\\"a'],
  ["{", "\\\\n", "a"]
]

/** The time of one of so many rounds; the least of five tries. What takes long is counted by the thread: other programs are at work. */
const costOf = (passes: number, pass: () => unknown): number => {
  const times: Array<number> = []
  for (let tries = 5; tries > 0; tries--) {
    const [start, before] = [performance.now(), process.threadCpuUsage()]
    for (let left = passes; left > 0; left--) pass()
    const wall = performance.now() - start
    const { system, user } = process.threadCpuUsage(before)
    // some kernels count in ticks of 10 ms
    times.push((wall < 50 ? wall : Math.min(wall, Math.max((system + user) / 1000, 25))) / passes)
  }
  return Math.min(...times)
}

for (const [before, repeated, after] of texts) {
  const textOf = (bytes: number) => before + repeated.repeat(bytes / repeated.length) + after
  const [small, large] = [textOf(16 * kibi), textOf(256 * kibi)]
  const measured: Measured = {
    what: before + repeated + after,
    small: costOf(16, () => Coercion.parse(small)),
    large: costOf(1, () => Coercion.parse(large))
  }
  console.log(JSON.stringify(measured))
}

const tool = Tool.make("keep", {
  description: "Keeps.",
  parameters: Schema.Struct({ a: Schema.optionalKey(Schema.String) }),
  success: Schema.String,
  run: () => Effect.succeed("kept")
})
const agent = Agent.make("keeper", { skills: [Skill.make("keeps", { description: "Keeps.", tools: [tool] })] })
for (const unit of ['\\"a\\":', '"x', '"a":1 ']) {
  const calls = Array.from({ length: 32 }, (_, at) =>
    ScriptedModel.call("keep", `{${unit.repeat((32 * kibi - 2) / unit.length)}}`, `c${at}`)
  )
  const run = Effect.gen(function* () {
    const model = yield* ScriptedModel.make(ScriptedModel.calls(...calls))
    return yield* Effect.exit(agent("go").pipe(Effect.provide(model.layer)))
  })
  const before = process.threadCpuUsage()
  await Effect.runPromise(Effect.scoped(run))
  const { system, user } = process.threadCpuUsage(before)
  console.log(JSON.stringify((system + user) / 1000))
}
