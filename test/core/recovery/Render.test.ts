import * as Factories from "@kintsugi/core/Factories"
import { assert, it as plain } from "@effect/vitest"
import { Recovery, Tool } from "@kintsugi/core"
import * as Issue from "@kintsugi/core/Issue"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Schema } from "effect"
import * as fc from "fast-check"
import { it } from "../../_support/run.ts"
import { agentWith, type Busy, busy, callingOnce, done, read, scripted } from "../../_support/dialogue.ts"
import { contextOf } from "./_support/contexts.ts"
import { all } from "../_support/errorSamples.ts"
import { Kind } from "../../../packages/core/src/errors/Kinds.ts"

class Own extends Data.TaggedError("Own")<{ readonly message: string; readonly isRetryable?: boolean }> {}

const error = fc.oneof(
  fc.constantFrom(...all),
  fc.record({ message: fc.string() }).map(({ message }) => new Own({ message })),
  fc.record({ message: fc.string(), isRetryable: fc.boolean() }).map((fields) => new Own(fields)),
  fc.string({ minLength: 5000, maxLength: 6000 }).map((message) => new Own({ message })),
  fc.anything()
)

const sideEffects = fc.constantFrom<Recovery.SideEffects>("none", "idempotent", "unsafe", "undeclared")

plain(
  "the label of any failure follows from its advice and the tool's effects; the text has no stack [C5 C6 P202]",
  () => {
    fc.assert(
      fc.property(error, sideEffects, fc.integer({ min: 1, max: 5 }), (error, effects, attempt) => {
        const text = Render.labelled(error, contextOf(effects, { attempt }))
        const isRetryable = Reflect.get(Object(error), "isRetryable") === true
        const isOwn = (Reflect.get(Object(error), "tool") ?? "fetch") === "fetch"
        const isUncertain =
          isOwn && ["ToolTimeoutError", "OutcomeUnknownError"].includes(Reflect.get(Object(error), "_tag"))
        const tag: unknown = Reflect.get(Object(error), "_tag")
        // what a model within the tool has given does not fit: the arguments of the call are not at fault
        const isOfModel = tag === "InvalidOutputError" || tag === "MalformedToolCallError"
        const isCorrectable = !isOfModel && Reflect.get(Object(error), "recovery") === "repair"
        const isRepair = isOwn && !isRetryable && (isCorrectable || tag === "EscalationError")
        if (isRepair) {
          assert.isFalse(/^(?:permanent|transient): /.test(text))
          assert.match(text, /; correct (?:the arguments|[^;]+) and call the tool again$/)
        } else if (!isRetryable && !isUncertain) {
          assert.isTrue(text.startsWith("permanent: "))
          assert.isTrue(text.endsWith("; consider asking the user for clarification"))
        } else {
          // what is known to have had no effect, is safe to repeat
          const tookNone = Reflect.get(Object(error), "tookEffect") === false
          const isSafe = effects === "none" || effects === "idempotent" || tookNone
          assert.isTrue(text.startsWith("transient: "))
          assert.strictEqual(text.endsWith("; safe to retry"), isSafe)
          assert.strictEqual(text.endsWith("; it may have taken effect, check before repeating"), !isSafe)
        }
        assert.strictEqual(text.includes(`failed ${attempt} times`), attempt > 1)
        const said = text.slice(isRepair ? 0 : text.indexOf(": ") + 2, text.lastIndexOf(";"))
        assert.isNotEmpty(said.trim())
        assert.isAtMost(text.length, 4000)
        assert.isFalse(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])…/.test(text))
      })
    )
  }
)

plain("no text shows stack lines, or a key within any field of an error [L911 P202]", () => {
  const key = "sk_live_abcdefgh12345678"
  for (const sample of all) {
    const planted = Object.assign(Object.create(Object.getPrototypeOf(sample)), sample, {
      message: `${sample.message} with ${key}`,
      rawArgs: key,
      detail: key,
      reason: key
    })
    for (const kind of Kind.literals) {
      const text = Render.labelled(planted, contextOf("none", { attempt: 2, kind }))
      assert.notInclude(text, key)
      assert.notMatch(text, /\n\s+at \S+ \(/)
    }
  }
})

it.run("rendering leaves the developer's error alone: the same object, with the same fields [P203]", (run) =>
  Effect.gen(function* () {
    const failure = busy(`no access, token=${"abcdefgh1234"}`)
    const before = { ...failure, message: failure.message, stack: failure.stack }
    const seen: Array<unknown> = []
    const { tool } = scripted("fetch", Effect.fail(failure), Effect.fail(failure))
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("fetch", {}, "c1")),
      ScriptedModel.calls(ScriptedModel.call("fetch", {}, "c2")),
      done
    )
    const agent = agentWith(
      tool.pipe(
        Tool.onError({
          Busy: Recovery.when((error) => {
            seen.push(error)
            return seen.length === 1 ? Recovery.tell() : Recovery.tell((error: Busy) => `told: ${error.message}`)
          })
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(seen[0], failure)
    assert.strictEqual(seen[1], failure)
    assert.deepStrictEqual({ ...failure, message: failure.message, stack: failure.stack }, before)
    assert.notInclude(read(model)[0], "abcdefgh1234")
  })
)

it.run(
  "the text of bad arguments has each path, the expectation with its allowed values, and the value [P201]",
  (run) =>
    Effect.gen(function* () {
      const book = Tool.make("book", {
        description: "Books.",
        parameters: Schema.Struct({
          seat: Schema.Literals(["window", "aisle"]),
          guests: Schema.Array(Schema.Struct({ age: Schema.Finite }))
        }),
        success: Schema.String,
        run: () => Effect.succeed("booked")
      }).pipe(Tool.onError({ DeserializationError: Recovery.tell() }))
      const model = yield* ScriptedModel.make(
        ScriptedModel.calls(
          ScriptedModel.call("book", { seat: "roof", guests: [{ age: 1 }, { age: "ten" }, {}], pet: 1 }, "c1")
        ),
        done
      )
      yield* run(agentWith(book), "go").pipe(Effect.provide(model.layer))
      const [text = ""] = read(model)
      for (const part of ["seat: ", '"window"', '"aisle"', '"roof"', "guests[1].age: ", '"ten"', "guests[2].age: "]) {
        assert.include(text, part)
      }
    })
)

plain("an issue says where, what was expected, and what came [P201]", () => {
  assert.strictEqual(
    Issue.format({ path: ["user", "tags", 0], expected: "Expected string", actual: "number 3" }),
    "user.tags[0]: Expected string, got number 3"
  )
  assert.strictEqual(
    Issue.format({ path: [], expected: "Expected object", actual: "null" }),
    "Expected object, got null"
  )
})

it.run(
  "a client error of an API is not retried by a policy that follows advice, 408, 425 and 429 excepted [C11]",
  (run) =>
    Effect.gen(function* () {
      for (const [status, attempts] of [
        [400, 1],
        [404, 1],
        [422, 1],
        [408, 2],
        [425, 2],
        [429, 2],
        [500, 2]
      ] as const) {
        const failing = Factories.fromApiError("fetch", "web-service", status, "no")
        const { runs, tool } = scripted("fetch", Effect.fail(failing), Effect.succeed("fine"))
        const led = tool.pipe(
          Tool.onError({
            ExecutionError: Recovery.when((error) =>
              error.isRetryable ? Recovery.retry({ retries: 1 }) : Recovery.tell(() => "no")
            )
          })
        )
        const model = yield* callingOnce("fetch")
        yield* run(agentWith(led), "go").pipe(Effect.provide(model.layer))
        assert.strictEqual(runs.length, attempts, String(status))
      }
    })
)
