/** One replay of a run by itself, on an engine with rows only. */
import { Ledger, Usage } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"
import { Clock, Effect, Fiber, Schema, Scope } from "effect"
import { Lines } from "../../../packages/durable/src/lines.ts"
import { seeded } from "../../../packages/durable/src/random.ts"
import type { Replay } from "../../../packages/durable/src/recording.ts"
import { Stop } from "../../../packages/durable/src/stop.ts"
import { Written } from "../../../packages/durable/src/words.ts"
import { calm } from "../../_support/dialogue.ts"
import { engineOfRows, instanceOf } from "./rows.ts"

export const quiet = Effect.forEach(Array.from({ length: 12 }), () => calm, { discard: true })

/** How an effect ends that may suspend its run: that interrupts its fiber. */
export const exitOf = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.flatMap(Effect.forkChild(self), Fiber.await)

/** What the replays of a run in one process share. */
export const processOfReplays = Effect.gen(function* () {
  const { engine, steps, ...seen } = engineOfRows()
  const shared = {
    executionId: "run",
    engine,
    direct: engine,
    approver: { decide: () => Effect.die("no approver") },
    clock: yield* Clock.Clock,
    random: seeded("process"),
    scope: Scope.makeUnsafe(),
    atWork: new Map(),
    words: new Written(),
    log: undefined,
    intents: new Set(),
    incarnation: "me",
    rows: undefined,
    hasInbox: true,
    format: { number: 3 },
    migrations: [],
    replies: new Map(),
    asked: new Set(),
    parents: new Map(),
    failures: { schema: Schema.Never, isDeclared: () => false }
  }
  const replay = (over: object = {}): Replay =>
    // what is absent is of no use to a step
    ({
      ...shared,
      instance: instanceOf(),
      taken: { isSo: false },
      stopping: new Stop(),
      lines: new Lines("run"),
      waiting: new Set(),
      ...over
    }) as unknown as Replay
  /** What is stored of each step. */
  const stored = () =>
    Object.fromEntries([...steps].map(([name, exit]) => [name, exit._tag === "Success" ? exit.value : exit]))
  return { ...seen, replay, scope: shared.scope, steps, stored }
})

/** An entry of a ledger. */
export const entry = (inputTokens: number): Ledger.Entry => ({
  runId: "r",
  agent: "a",
  turn: 1,
  attempt: 1,
  model: "m",
  provider: "p",
  purpose: "agent",
  outcome: "used",
  usage: Usage.make({ inputTokens })
})

/** A run with only its ledger. */
export const spendingRun = () => {
  const ledger = new Ledger.Ledger()
  return { ledger, run: { runId: "r", ledger } as unknown as RunContext.RunContext }
}
