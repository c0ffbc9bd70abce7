/**
 * Many runs at once, in a process of its own so that its memory can be told: `bare`, `timed` or `ours`, and how many. Each has three turns
 * with a tool that sleeps 10 ms on the real clock. Prints one line of JSON.
 */
import { Agent, Model, Skill, Tool } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Bare from "./floors/effect.ts"
import { printCauses } from "./causes.ts"
import { assertEqual } from "./harness.ts"
import * as Ours from "./ours.ts"

export interface AtOnce {
  /** Milliseconds until all have answered, and of the processor. */
  readonly wall: number
  readonly cpu: number
  /** MiB at most, over what the process had before. */
  readonly memory: number
}

const turns = 3
const answer = "rested"
const nap = Effect.as(Effect.sleep("10 millis"), "ok")

const bare = () => {
  const agent = Bare.agent(new Map([["nap", Bare.tool(Schema.Struct({}), Schema.String, () => nap)]]), 8)
  const model = Bare.modelOf(turns, Bare.calling("nap", "{}"), Bare.answering(answer))
  return Effect.provideService(
    Effect.suspend(() => agent("Rest.")),
    Bare.Model,
    model
  )
}

const subjects: Record<string, () => Effect.Effect<unknown, unknown>> = {
  bare,
  timed: () => Bare.timed(bare()),
  ours: () => {
    const tool = Tool.make("nap", {
      description: "Sleeps.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => nap
    })
    const skills = [Skill.make("rest", { description: "Rests.", tools: [tool] })]
    const agent = Agent.make("sleeper", { prompt: "Rest.", skills })
    const model = Ours.modelOf(turns, Ours.calling("nap", "{}"), Ours.answering(answer))
    return Effect.provideService(
      Effect.suspend(() => agent("Rest.")),
      Model.Model,
      model
    )
  }
}

const [name = "", count = ""] = process.argv.slice(2)
const runs = Number(count)
const run = subjects[name]?.()
if (run === undefined || !(runs > 0)) throw new TypeError("usage: atOnce.ts bare|timed|ours COUNT")

const atOnce = (many: number) =>
  Effect.runPromise(
    Effect.forEach(Array.from({ length: many }), () => run, { concurrency: "unbounded" }).pipe(
      Effect.map((answers) => answers.filter((one) => one === answer).length)
    )
  )

for (let i = 0; i < 3; i++) assertEqual("runs to warm up", await atOnce(300), 300)
if (process.argv.includes("--causes")) {
  await printCauses(`${runs} runs at once, ${name}`, () => atOnce(runs))
  process.exit()
}
const idle = process.resourceUsage().maxRSS
const cpu = process.cpuUsage()
const start = performance.now()
assertEqual("runs", await atOnce(runs), runs)
const wall = performance.now() - start
const { system, user } = process.cpuUsage(cpu)
const result: AtOnce = { wall, cpu: (user + system) / 1000, memory: (process.resourceUsage().maxRSS - idle) / 1024 }
process.stdout.write(JSON.stringify(result))
