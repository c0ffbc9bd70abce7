/** What the tests of compositions share: agents that play a part, and views on the tree of runs. */
import { Agent, type AgentEvent } from "@kintsugi/core"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { calm, isTerminal } from "./dialogue.ts"

/** What happened when, as `name: what at instant`. */
export const stage = () => {
  const lines: Array<string> = []
  const note = (line: string) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      lines.push(`${line} at ${at}`)
    })
  /** A plain function that takes its time, and notes how it ends. */
  const actor = <O, E = never>(name: string, millis: number, act: (input: string) => Effect.Effect<O, E>) =>
    Agent.deterministic(name, (input: string) =>
      note(`${name}: start`).pipe(
        Effect.andThen(millis === 0 ? act(input) : Effect.delay(act(input), millis)),
        Effect.onExit((exit) => note(`${name}: ${exit._tag === "Success" ? "success" : "failure"}`))
      )
    )
  return { lines, note, actor }
}

/** The runs of a log as a tree, in the order of their starts: each with what it ended with. */
export const treeOf = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> => {
  const depths = new Map<string, number>()
  return events.flatMap((event) => {
    if (event.type !== "run-start") return []
    const depth = event.parent === undefined ? 0 : (depths.get(event.parent.runId) ?? 0) + 1
    depths.set(event.runId, depth)
    const ends = events.filter((one) => one.runId === event.runId && isTerminal(one))
    return [`${"  ".repeat(depth)}${event.agent} ${ends.map(({ type }) => type).join(" ")}`]
  })
}

/** Runs an effect for that long. */
export const during = <A, E, R>(millis: number, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* calm
    yield* TestClock.adjust(millis)
    yield* calm
    return fiber
  })

/** Runs an effect to its end while a minute goes by. */
export const overAMinute = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(during(60_000, effect), (fiber) => Fiber.await(fiber))
