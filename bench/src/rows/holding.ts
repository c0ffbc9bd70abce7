/**
 * What a run weighs while it waits at a tool or a model, beside the bare Effect loop with a deadline; while it waits for the next part of a
 * stream; and suspended, as text.
 */
import { Agent, Model, Skill, Snapshot, Tool } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { printCauses } from "../causes.ts"
import { type Figure, report } from "../figures.ts"
import * as Bare from "../floors/effect.ts"
import { assertEqual, median } from "../harness.ts"
import * as Ours from "../ours.ts"
import * as Work from "../work.ts"

const runs = 10_000

let waiting = 0
const areAllThere = (): boolean => waiting >= runs
const arrived = <A>(forever: Effect.Effect<A>) =>
  Effect.suspend(() => {
    waiting++
    return forever
  })

const slow = Tool.make("add", {
  description: Work.description,
  parameters: Ours.Params,
  success: Schema.Finite,
  run: () => arrived(Effect.never)
})

const agent = Agent.make("adder", {
  prompt: Work.prompt,
  skills: [Skill.make("add", { description: Work.description, tools: [slow] })]
})

/** A reply that has begun. */
const streaming: Model.Service = {
  ...Ours.modelOf(2),
  stream: () =>
    Stream.concat(
      Stream.fromIterable<Model.Part>([{ type: "text-delta", text: "Three" }]),
      Stream.fromEffect(arrived(Effect.never))
    )
}

const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1024
}

/** Many that wait at once. */
const begun = (one: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    waiting = 0
    const fibers = yield* Effect.forEach(Array.from({ length: runs }), () => Effect.forkDetach(one))
    while (!areAllThere()) yield* Effect.sleep(10)
    return fibers
  })

/** KiB for each of them. */
const heldOnce = (one: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const before = heap()
    const fibers = yield* begun(one)
    const after = heap()
    yield* Fiber.interruptAll(fibers)
    return (after - before) / runs
  })

/** The first lap is for the compiler. */
const held = (one: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.replicateEffect(heldOnce(one), 4), ([, ...laps]) => median(laps))

const oursWith = (model: Model.Service) =>
  Effect.provideService(
    Effect.suspend(() => agent(Work.input)),
    Model.Model,
    model
  )
const atTool = oursWith(Ours.modelOf(2))
const atModel = oursWith({ ...Ours.modelOf(2), generate: () => arrived(Effect.never) })

const bare = Bare.agent(new Map([["add", Bare.tool(Bare.Params, Schema.Finite, () => arrived(Effect.never))]]), 8)
const bareWith = (model: typeof Bare.Model.Service) =>
  Bare.timed(
    Effect.provideService(
      Effect.suspend(() => bare(Work.input)),
      Bare.Model,
      model
    )
  )
const bareAtTool = bareWith(Bare.modelOf(2))
const bareAtModel = bareWith({ generate: () => arrived(Effect.never) })

const atStream = Effect.provideService(
  Effect.suspend(() => Stream.runDrain(agent.stream(Work.input))),
  Model.Model,
  streaming
)

/** The snapshot of a run that waits for approval, as it is stored. */
const snapshotBytes = Effect.gen(function* () {
  const approved = Ours.agentOf(Ours.add.pipe(Tool.requireApproval()))
  const run = yield* approved.start(Work.input)
  const outcome = yield* run.outcome
  if (outcome._tag !== "Suspended") throw new Error("the run was not suspended")
  assertEqual("requests", Snapshot.requestsOf(outcome.snapshot).length, 1)
  return Buffer.byteLength(JSON.stringify(Snapshot.toJson(outcome.snapshot)))
}).pipe(Effect.scoped, Effect.provideService(Model.Model, Ours.modelOf(2)))

/** What the library adds to a bare run with a deadline. */
const beside = (where: string, ours: Effect.Effect<unknown, unknown>, bare: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const floor = yield* held(bare)
    const value = yield* held(ours)
    const figures: ReadonlyArray<Figure> = [
      { name: `bare Effect with a deadline, at a ${where}`, value: floor, unit: "KiB" },
      { name: `a run at a ${where}`, value, unit: "KiB" },
      { name: `a run at a ${where}, over bare Effect with a deadline`, value: value - floor, unit: "KiB", most: 6 }
    ]
    return figures
  })

const program = Effect.gen(function* () {
  report("what waits", [
    ...(yield* beside("tool", atTool, bareAtTool)),
    ...(yield* beside("model", atModel, bareAtModel)),
    { name: "a run with an open stream, its events read", value: yield* held(atStream), unit: "KiB" },
    { name: "a suspended run as text", value: (yield* snapshotBytes) / 1024, unit: "KiB" }
  ])
})

if (process.argv.includes("--causes")) {
  await printCauses(`${runs} runs at a tool`, () => Effect.runPromise(begun(atTool)), true)
  process.exit()
}
await Effect.runPromise(program)
