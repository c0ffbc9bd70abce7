import { assert } from "@effect/vitest"
import { Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Context, Effect, Exit, Fiber, Layer, Schema, SchemaGetter, SchemaIssue } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, interruptedAt, overADay, read } from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

/** The cities that there are. */
class Cities extends Context.Service<Cities, { readonly idOf: (name: string) => Effect.Effect<number | undefined> }>()(
  "test/Cities"
) {}

/** From the name of a city to its number, which takes a second. */
const City = Schema.String.pipe(
  Schema.decodeTo(Schema.Finite, {
    decode: SchemaGetter.transformEffect((name: string) =>
      Effect.flatMap(Cities, ({ idOf }) => Effect.delay(idOf(name), "1 second")).pipe(
        Effect.flatMap((id) =>
          id === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected a city" }))
            : Effect.succeed(id)
        )
      )
    ),
    encode: SchemaGetter.transform(String)
  })
)

const looking = () => {
  const asked: Array<string> = []
  const runs: Array<unknown> = []
  const tool = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({ city: City, days: Schema.optionalKey(Schema.Finite) }),
    success: Schema.String,
    run: (params) => Effect.sync(() => (runs.push(params), `seen ${params.city}`))
  })
  const cities = Layer.succeed(Cities, {
    idOf: (name) => Effect.sync(() => (asked.push(name), name === "Rome" ? 7 : undefined))
  })
  return { asked, cities, runs, tool }
}

it.run("a schema of parameters may wait, and need services, which are those of the tool [P1310]", (run) =>
  Effect.gen(function* () {
    const { asked, cities, runs, tool } = looking()
    const model = yield* make(calls(call("look", { city: "Rome" }, "c1")), done)
    yield* overADay(Effect.provide(run(agentWith(tool), "go"), Layer.merge(model.layer, cities)))
    assert.deepStrictEqual(read(model), ["result: seen 7"])
    assert.deepStrictEqual(runs, [{ city: 7 }])
    assert.deepStrictEqual(asked, ["Rome"])
  })
)

it.run("arguments that an effectful schema refuses are mended and repaired as any others [P1310]", (run) =>
  Effect.gen(function* () {
    const { asked, cities, runs, tool } = looking()
    const model = yield* make(
      calls(call("look", { city: "Rome", days: "2" }, "c1")),
      calls(call("look", { city: "Rom" }, "c2")),
      calls(call("look", { city: "Nowhere" }, "c3")),
      done
    )
    const guarded = tool.pipe(
      Tool.onError({
        InvalidArgs: Recovery.ladder(
          Recovery.fix(() => Effect.succeed('{"city":"Rome"}')),
          Recovery.tell()
        )
      })
    )
    yield* overADay(Effect.provide(run(agentWith(guarded), "go"), Layer.merge(model.layer, cities)))
    assert.deepStrictEqual(read(model), ["result: seen 7", "result: seen 7", "result: seen 7"])
    assert.deepStrictEqual(runs, [{ city: 7, days: 2 }, { city: 7 }, { city: 7 }])
    assert.deepStrictEqual(asked, ["Rome", "Rome", "Rom", "Rome", "Nowhere", "Rome"])
  })
)

it.run("an effectful schema is interrupted while it waits, and the tool does not run [P1310]", (run) =>
  Effect.gen(function* () {
    const { asked, cities, runs, tool } = looking()
    const model = yield* make(calls(call("look", { city: "Rome" }, "c1")))
    const running = Effect.provide(run(agentWith(tool), "go"), Layer.merge(model.layer, cities))
    const exit = yield* interruptedAt(500, running)
    assert(Exit.hasInterrupts(exit))
    assert.deepStrictEqual([asked.length, runs.length], [0, 0])
  })
)

it.effect("Tool.call waits for it as well, and a layer of the tool gives it what it needs [P1310 P1306]", () =>
  Effect.gen(function* () {
    const { cities, tool } = looking()
    const provided = tool.pipe(Tool.provide(cities))
    const called = yield* Effect.forkChild(Tool.call(provided, { city: "Rome" }), { startImmediately: true })
    const refused = yield* Effect.forkChild(Effect.flip(Tool.call(provided, { city: "Nowhere" })))
    yield* overADay(Fiber.join(called))
    assert.strictEqual(yield* Fiber.join(called), "seen 7")
    const error = yield* Fiber.join(refused)
    assert(error._tag === "DeserializationError")
    assert.match(error.message, /city: Expected a city/)
  })
)

it.run("a defect of a decoder is a defect that names the tool, at once or later [P1310]", (run) =>
  Effect.gen(function* () {
    const bug = new Error("bug")
    const failing = (decode: (text: string) => Effect.Effect<string>) =>
      Schema.String.pipe(
        Schema.decodeTo(Schema.String, {
          decode: SchemaGetter.transformEffect(decode),
          encode: SchemaGetter.transform((text: string) => text)
        })
      )
    const now = failing(() => {
      throw bug
    })
    const later = failing(() => Effect.andThen(Effect.yieldNow, Effect.die(bug)))
    for (const field of [now, later]) {
      const tool = Tool.make("broken", {
        description: "Breaks.",
        parameters: Schema.Struct({ field }),
        success: Schema.String,
        run: () => Effect.succeed("")
      }).pipe(Tool.onError({ orElse: Recovery.tell() }))
      const model = yield* make(calls(call("broken", { field: "x" }, "c1")))
      const exit = yield* Effect.exit(Effect.provide(run(agentWith(tool), "go"), model.layer))
      assert(Exit.isFailure(exit))
      const defect = Cause.squash(exit.cause)
      assert(Cause.hasDies(exit.cause) && defect instanceof TypeError)
      assert.match(defect.message, /parameters of tool 'broken'/)
      assert.strictEqual(defect.cause, bug)
    }
  })
)
