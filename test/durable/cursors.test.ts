/** Readers that come back, at every cursor, of durable runs whose processes die: they have the same as a reader from the start. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Layer, Option, Random, Schema, Stream } from "effect"
import { continuing, readAlong } from "../core/run/_support/continued.ts"
import { process, watched } from "./_support/engines.ts"
import { options, passing, reading } from "./_support/logs.ts"
import { type Said, saying } from "./_support/saying.ts"

const usual: ReadonlyArray<Said["end"]> = ["hold", "fail", "call", "hold, then call"]

/** What a model says to each request, drawn at random; from the seventh on it ends. */
const drawn = Effect.gen(function* () {
  const said: Array<Said> = []
  for (let nth = 0; nth < 7; nth++) {
    const end = usual[yield* Random.nextIntBetween(0, usual.length)] ?? "hold"
    const length = yield* Random.nextIntBetween(0, 4)
    const words = Array.from({ length }, (_, index) => `${nth}${"abc"[index]} `)
    said.push({ words, end, ...((yield* Random.nextBoolean) ? { thoughts: `hm${nth}` } : {}) })
  }
  return [...said, { words: ["done"], end: "finish" } satisfies Said]
})

const sweep = (continues: boolean, seed: number) =>
  Effect.gen(function* () {
    const model = saying("rest", yield* drawn, { words: ["done"], end: "finish" })
    const asked: Array<Durable.DurableRequest> = []
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("seen")
    }).pipe(Tool.requireApproval())
    const base = Agent.make("writer", { model: model.layer, tools: [look], budget: { maxDuration: "9 days" } })
    const agent = continues ? base.pipe(continuing(3)) : base
    const durable = Durable.workflow(agent, {
      name: "writer",
      ...options,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const engine = yield* watched(false)
    const on = Effect.provide(engine.layer)
    const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
    let stop = yield* serve
    const id = yield* Durable.start(durable, { id: `run ${seed}`, input: "go" }).pipe(on)
    const isOver = Effect.map(
      Durable.poll(durable, id).pipe(on),
      Option.exists(({ _tag }) => _tag === "Complete")
    )
    const from = (after?: string) => reading(Durable.events(durable, id, after === undefined ? {} : { after })).pipe(on)
    const readers = [{ at: 0, ...(yield* from()) }]
    for (let nth = 0; nth < 40 && !(yield* isOver); nth++) {
      yield* passing(yield* Random.nextIntBetween(1, 8))
      const { events } = readers[0] ?? { events: [] }
      // one comes back at what another one has
      readers.push({ at: events.length, ...(yield* from(events.at(-1)?.cursor)) })
      const request = asked.at(-1)
      if (request !== undefined && (yield* Random.nextBoolean)) {
        yield* Durable.decide(durable, request, Approval.approve).pipe(on)
      }
      if (yield* Random.nextBoolean) {
        yield* model.release
        continue
      }
      yield* stop
      yield* engine.kill
      model.close()
      stop = yield* serve
      yield* Durable.resume(durable, id).pipe(on)
    }
    yield* passing(40)
    const all = yield* Stream.runCollect(Durable.events(durable, id)).pipe(on)
    assert.isTrue(yield* isOver, `${seed}`)
    for (const { at, events } of readers) assert.deepStrictEqual([...all.slice(0, at), ...events], all, `${seed}`)
    for (const [index, { cursor }] of all.entries()) {
      const after = cursor === undefined ? {} : { after: cursor }
      const rest = yield* Stream.runCollect(Durable.events(durable, id, after)).pipe(on)
      assert.deepStrictEqual(rest, all.slice(index + 1), `${seed} ${cursor}`)
    }
    yield* stop
    // what a reader has of each reply that ended is that reply
    const replies = all.flatMap((event) =>
      event.type === "turn-end"
        ? [event.message.content.flatMap((part) => (part.type === "text" ? part.text : [])).join("")]
        : []
    )
    assert.deepStrictEqual(readAlong(all).slice(0, replies.length), replies, `${seed}`)
    return new Set(all.map(({ type }) => type))
  })

it.effect.each([true, false])(
  "a reader that comes back at any cursor has what one from the start has, continued: %s [P1541 P1543 P1563]",
  (continues) =>
    Effect.gen(function* () {
      const types = new Set<string>()
      for (let seed = 0; seed < 3; seed++) {
        const found = yield* Effect.scoped(sweep(continues, seed)).pipe(Random.withSeed(`cursors ${seed}`))
        for (const type of found) types.add(type)
      }
      assert.include([...types], continues ? "attempt-continued" : "attempt-discarded")
      assert.include([...types], "approval-requested")
    })
)

it.effect("options of a reader that are none are a defect that names them [P1543]", () =>
  Effect.gen(function* () {
    const model = saying("rest", [], { words: ["done"], end: "finish" })
    const durable = Durable.workflow(Agent.make("writer", { model: model.layer }), { name: "writer", ...options })
    const engine = yield* watched(false)
    const third = "TypeError: Durable.events: the third argument must be options"
    const gap = "TypeError: Durable.events: onGap must be 'fail' or 'state'"
    for (const [given, says] of [
      [null, third],
      ["x", third],
      [{ onGap: "x" }, gap],
      [{ onGap: null }, gap]
    ] as const) {
      const read = Stream.runDrain(Durable.events(durable, "one", given as {}))
      const exit = yield* Effect.exit(Effect.provide(read, engine.layer))
      assert(Exit.isFailure(exit))
      assert.strictEqual(String(Cause.squash(exit.cause)), says)
    }
    for (const onGap of ["fail", "state"] as const) {
      const read = Stream.runDrain(Durable.events(durable, "one", { onGap }))
      assert.strictEqual((yield* Effect.flip(Effect.provide(read, engine.layer)))._tag, "UnknownRunError")
    }
  })
)
