/**
 * What many runs at once cost: 10,000 agents of three turns with a tool that sleeps 10 ms on the real clock, and a model in the
 * same process; first without a listener, then each with one. Prints the time until all have answered, the largest heap while
 * they run, and the heap once all is over and garbage is collected. Fails when a second lap leaves the heap larger or smaller
 * than the first by more than 5 %, or when a listener, a timer, an event or an answer is missing or left over.
 */
import { Agent, AgentEvent, Message, Model, Skill, Tool, Usage } from "@kintsugi/core"
import { Effect, Fiber, Schema } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const runs = 10_000
const turns = 3
/** How much the heap after the second lap may differ from that after the first. */
const tolerance = 0.05

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

const calling: Message.Reply = {
  content: [{ type: "tool-call", id: "c1", name: "nap", arguments: "{}" }],
  finish: "tool-calls",
  usage
}

const answering: Message.Reply = { content: [Message.text("rested")], finish: "stop", usage }

/** Calls the tool in every turn but the last. */
const service: Model.Service = {
  name: "fixed",
  provider: "bench",
  generate: ({ messages }) =>
    Effect.succeed(messages.filter(({ role }) => role === "assistant").length < turns - 1 ? calling : answering),
  stream: () => {
    throw new Error("not streamed here")
  }
}

const nap = Tool.make("nap", {
  description: "Sleeps.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.as(Effect.sleep("10 millis"), "ok")
})

const plain = Agent.make("sleeper", { skills: [Skill.make("rest", { description: "Rests.", tools: [nap] })] })

/** The fibers of the listeners of the present lap, and how many of them have heard the end of their run. */
const listening = new Set<Fiber.Fiber<unknown, unknown>>()
let ended = 0

const heard = plain.pipe(
  Agent.onEvent((event) =>
    Effect.withFiber((fiber) => {
      listening.add(fiber)
      if (AgentEvent.isTerminal(event)) ended++
      return Effect.void
    })
  )
)

// so that no flag is needed to start this
setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

const heapInMiB = (): number => process.memoryUsage().heapUsed / 2 ** 20

/** What is left once nothing is at work; finalizers of what was collected may run a tick later. */
const collected = Effect.gen(function* () {
  for (let i = 0; i < 5; i++) {
    yield* Effect.sleep("20 millis")
    collect()
  }
  return heapInMiB()
})

const listenersAtWork = (): number => [...listening].filter((fiber) => fiber.pollUnsafe() === undefined).length

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length

const problems: Array<string> = []

const expect = (isFine: boolean, problem: string): void => {
  if (!isFine) problems.push(problem)
}

const lap = (name: string, agent: typeof plain, listeners: number) =>
  Effect.gen(function* () {
    listening.clear()
    ended = 0
    let peak = 0
    const sample = Effect.sync(() => {
      peak = Math.max(peak, heapInMiB())
    })
    const sampling = yield* Effect.forkChild(Effect.forever(Effect.andThen(sample, Effect.sleep("5 millis"))))
    const start = performance.now()
    const answers = yield* Effect.forEach(Array.from({ length: runs }), () => agent("Have a rest."), {
      concurrency: "unbounded"
    })
    const millis = performance.now() - start
    yield* sample
    yield* Fiber.interrupt(sampling)
    const late = listeners - ended
    // a run waits for its listeners for one second at most: on a busy machine some are not through by then
    const isOver = () => ended >= listeners && listenersAtWork() === 0
    for (let i = 0; i < 100 && !isOver(); i++) yield* Effect.sleep("20 millis")
    expect(
      answers.every((answer) => answer === "rested"),
      `${name}: an answer is missing`
    )
    // one that is late hears the end in another fiber
    expect(listening.size >= listeners && ended === listeners, `${name}: ${ended} of ${listeners} ends were heard`)
    expect(listenersAtWork() === 0, `${name}: ${listenersAtWork()} listeners are left`)
    listening.clear()
    const left = yield* collected
    // one may be that of the last sleep here
    expect(timers() <= 1, `${name}: ${timers()} timers are left`)
    const perRun = `${((millis * 1000) / runs).toFixed(0)} µs per run`
    const heap = `heap at most ${peak.toFixed(0)} MiB, after it ${left.toFixed(2)} MiB`
    console.log(`${name}: ${millis.toFixed(0)} ms, ${perRun}; ${heap}${late > 0 ? `; ${late} ends heard late` : ""}`)
    return left
  })

const laps = (name: string, agent: typeof plain, listeners: number) =>
  Effect.gen(function* () {
    // the first lap of all has the compiler in it
    yield* lap(`${name}, warming up`, agent, listeners)
    const first = yield* lap(`${name}, first lap`, agent, listeners)
    const second = yield* lap(`${name}, second lap`, agent, listeners)
    const growth = `${((second / first - 1) * 100).toFixed(1)} %`
    console.log(`${name}: the heap has grown by ${growth}`)
    expect(Math.abs(second / first - 1) <= tolerance, `${name}: the heap is not flat, it has grown by ${growth}`)
  })

const program = Effect.gen(function* () {
  console.log(`${runs} runs at once of ${turns} turns, with a tool that sleeps 10 ms`)
  yield* laps("not listened to", plain, 0)
  yield* laps("one listener each", heard, runs)
})

await Effect.runPromise(Effect.provideService(program, Model.Model, service))
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
