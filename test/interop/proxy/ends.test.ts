/** What clients of a proxy learn of failures, and how they are sent. */
import { assert, describe, it } from "@effect/vitest"
import { type Approval, KintsugiError, LlmError, type Snapshot } from "@kintsugi/core"
import { Cause, Effect, Logger, Schema } from "effect"
import * as Ends from "../../../packages/interop/src/proxy/ends.ts"
import * as Errors from "../../../packages/interop/src/proxy/errors.ts"
import { RunId, shown, Text } from "../../../packages/interop/src/proxy/schemas.ts"
import { issuesOf, refusable, refused, unfitOf } from "../../../packages/interop/src/proxy/unfit.ts"

/** What an error says: two errors count as deeply equal when their messages are. */
const fieldsOf = (error: unknown): object => {
  assert(error instanceof Error)
  // the tag of a problem is on its class
  const { _tag } = Object(error)
  return { ...error, message: error.message, _tag }
}

const inside = (code: string, type: string) => ({
  _tag: "RunFailedError",
  type: `urn:kintsugi:error:${type}`,
  title: "The server has failed",
  status: 500,
  detail: "The server has failed",
  code,
  retryable: false,
  message: "The server has failed"
})

describe("the failure of a run", () => {
  /** What a client learns, and what is logged. */
  const learned = (cause: Cause.Cause<unknown>) =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
        logged.push(`${logLevel}: ${[message].flat().join("; ")}`)
      })
      const failure = yield* Effect.provide(Ends.failureOf("one", cause), Logger.layer([logger]))
      return { failure, logged }
    })

  it.effect("is that of its agent, a problem with the status of the table, or else a stop [P1852]", () =>
    Effect.gen(function* () {
      const own = { _tag: "Own", code: "MINE" }
      const { failure, logged } = yield* learned(Cause.fail(own))
      assert.strictEqual(failure, own)
      assert.deepStrictEqual(logged, [])
      const error = LlmError.AuthenticationError.make({ model: "m" })
      const failed = yield* learned(Cause.fail(error))
      const problem = KintsugiError.toProblem(error)
      assert.deepStrictEqual(fieldsOf(failed.failure), { ...problem, _tag: "RunFailedError", message: problem.detail })
      assert.deepStrictEqual(failed.logged, [])
      for (const other of ["text", undefined, { code: 5 }]) {
        const { failure } = yield* learned(Cause.combine(Cause.interrupt(1), Cause.fail(other)))
        assert.strictEqual(failure, other)
      }
      const stopped = { type: "urn:kintsugi:error:run-conflict", status: 409, title: "The run is in another state" }
      for (const cause of [Cause.interrupt(1), Cause.empty]) {
        const { failure, logged } = yield* learned(cause)
        assert.deepInclude(fieldsOf(failure), { ...stopped, _tag: "RunConflictError", run: "one", reason: "stopped" })
        assert.deepStrictEqual(logged, [])
      }
    })
  )

  it.effect("of what is stored, or a bug, is logged, and says no more than its code [P1852]", () =>
    Effect.gen(function* () {
      const bug = yield* learned(Cause.die(new Error("hunter2")))
      assert.deepStrictEqual(fieldsOf(bug.failure), inside("KINTSUGI-BUG", "bug"))
      assert.lengthOf(bug.logged, 1)
      assert.match(bug.logged[0] ?? "", /^Error: a run has met a bug; .*hunter2/s)
      const stored = yield* learned(Cause.fail(Object.assign(new Error("hunter2"), { code: "KINTSUGI-STEP-LOST" })))
      assert.deepStrictEqual(fieldsOf(stored.failure), inside("KINTSUGI-STEP-LOST", "step-lost"))
      assert.lengthOf(stored.logged, 1)
      assert.match(stored.logged[0] ?? "", /^Error: a run has failed inside; .*hunter2/s)
    })
  )

  it("that passes says when to come again [P1852]", () => {
    assert.deepStrictEqual(fieldsOf(Errors.failedForNow("KINTSUGI-STORE", 7)), {
      ...inside("KINTSUGI-STORE", "store"),
      status: 503,
      retryable: true,
      retryAfter: 7
    })
    assert.strictEqual(Ends.pause, 5)
  })
})

describe("decisions", () => {
  const counted: Approval.DecisionReceipt = { _tag: "Counted", digest: "a" } as never // cast: no more of it is read
  const notFit: Approval.DecisionReceipt = { _tag: "NotCounted", digest: "b", reason: "nothing-to-run" }
  const unknown = Ends.notCounted("c")
  const waiting: ReadonlyArray<Snapshot.Waiting> = []

  it("that count are no failure, and the others have receipts, or what does not fit [P1533 P1852]", () => {
    assert.deepStrictEqual(unknown, { _tag: "NotCounted", digest: "c", reason: "unknown-request" })
    for (const receipts of [[], [counted], [counted, counted]])
      assert.isUndefined(Ends.refusalOf("one", receipts, waiting))
    for (const receipts of [[unknown], [counted, notFit], [notFit, unknown], [counted, unknown]]) {
      const refusal = Ends.refusalOf("one", receipts, waiting)
      assert.deepInclude(fieldsOf(refusal), {
        _tag: "RunConflictError",
        status: 409,
        run: "one",
        reason: "not-counted",
        receipts,
        waiting
      })
    }
    const other = { ...notFit, digest: "d" }
    assert.deepInclude(fieldsOf(Ends.refusalOf("one", [notFit, other], waiting)), {
      _tag: "UnfitRequestError",
      status: 422,
      issues: [
        { path: "decisions.b", expected: "Expected arguments that fit" },
        { path: "decisions.d", expected: "Expected arguments that fit" }
      ]
    })
  })
})

it.effect("an id that the server draws is one that clients may have, and another one each time", () =>
  Effect.gen(function* () {
    const ids = yield* Effect.forEach(Array.from({ length: 20 }), () => Ends.drawn)
    assert.strictEqual(new Set(ids).size, 20)
    for (const id of ids) assert.match(id, /^[\da-z]{10,}$/)
    assert.isTrue(ids.every(Schema.is(RunId)))
  })
)

describe("a request", () => {
  const fields = { n: Schema.Int, list: Schema.optionalKey(Schema.Array(Schema.Struct({ a: Schema.String }))) }

  it.effect("that does not fit is refused with each path, and without what came [P1852]", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(refusable(fields))
      assert.deepStrictEqual(yield* refused(yield* decode({ n: 1, list: [{ a: "x" }] })), { n: 1, list: [{ a: "x" }] })
      const unfit = yield* Effect.flip(refused(yield* decode({ n: "hunter2" })))
      assert.deepInclude(fieldsOf(unfit), { _tag: "UnfitRequestError", status: 422 })
      assert.deepStrictEqual(
        unfit.issues.map(({ path }) => path),
        ["n"]
      )
      assert.notInclude(JSON.stringify(unfit), "hunter2")
      const nested = yield* Effect.flip(refused(yield* decode({ n: 1, list: [{ a: "x" }, { a: 5 }] })))
      assert.deepStrictEqual(
        nested.issues.map(({ path }) => path),
        ["list.1.a"]
      )
      assert.deepStrictEqual(yield* Schema.encodeEffect(refusable(fields))({ n: 1 }), { n: 1 })
    })
  )

  it.effect("has twenty issues at most [P1852]", () =>
    Effect.gen(function* () {
      const many = Schema.Array(Schema.Int)
      const error = yield* Effect.flip(
        Schema.decodeUnknownEffect(many)(
          Array.from({ length: 30 }, () => "x"),
          { errors: "all" }
        )
      )
      assert.deepStrictEqual(
        issuesOf(error.issue).map(({ path }) => path),
        Array.from({ length: 20 }, (_, at) => String(at))
      )
      assert.deepStrictEqual(unfitOf(error).issues, issuesOf(error.issue))
    })
  )

  it("names a run with up to 100 characters, and says more than blanks [P1852]", () => {
    const isId = Schema.is(RunId)
    for (const id of ["a", "a-B.9:_", "x".repeat(100)]) assert.isTrue(isId(id), id)
    for (const id of ["", "x".repeat(101), "a b", "a/b", "é", "a\n"]) assert.isFalse(isId(id), id)
    const isText = Schema.is(Text)
    assert.deepStrictEqual(
      [" a", "a", "", " ", "\n\t"].map((text) => isText(text)),
      [true, true, false, false, false]
    )
  })
})

it("what a run waits for is shown without the tokens of deferred calls [P1852]", () => {
  const deferred = {
    type: "deferred",
    runId: "r",
    agent: "a",
    callId: "c",
    tool: "t",
    expiresAt: 1,
    handle: { h: 1 }
  } as const
  const message = { type: "message", id: "m", message: { role: "user", content: [] } } as const
  // cast: more than the type of what waits, as snapshots have it
  const waiting = [{ ...deferred, token: "s3cret", key: "k" }, message] as unknown as ReadonlyArray<Snapshot.Waiting>
  assert.deepStrictEqual<unknown>(shown(waiting), [deferred, message])
})
