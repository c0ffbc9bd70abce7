import { assert, describe } from "@effect/vitest"
import { Approval, Coercion, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Result, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, eventLog, read } from "../../_support/dialogue.ts"
import { flight, keeping, mend } from "../../_support/coercion.ts"

const { call, calls } = ScriptedModel

const { Array: List, Finite, Struct, optionalKey, String: Text, Union } = Schema

describe("nothing is invented [P104]", () => {
  it("no required field, however it is missing [P104]", () => {
    const schema = Struct({ n: Schema.NullOr(Finite), on: optionalKey(Text) })
    for (const sent of [
      {},
      { n: "" },
      "{",
      '{"n":',
      '{"n":}',
      '{"n": ',
      "{n:}",
      '{"on":"x"',
      '"{}"',
      "{}",
      { on: null }
    ]) {
      assert.isUndefined(mend(schema, sent).value, JSON.stringify(sent))
    }
    assert.isUndefined(mend(Struct({ a: Text }), { a: null }).value)
  })

  it("no null, if the word is only within a text or a key [P104]", () => {
    const named = Struct({ a: Text, b: Schema.NullOr(Text) })
    for (const sent of ['{"a": "None", "b": }', "{'a': 'null', 'b': }", '{"a": "say \\"null\\"", "b": }']) {
      assert.isUndefined(mend(named, sent).value, sent)
    }
    const keyed = Struct({ isNone: optionalKey(Finite), None: optionalKey(Finite), b: Schema.NullOr(Text) })
    for (const sent of ['{"isNone": 1, "b": }', "{isNone: 1, b: }", "{None: 1, b: }"]) {
      assert.isUndefined(mend(keyed, sent).value, sent)
    }
    // one that was sent as a value is one
    for (const sent of ['{"a": "x", "b": None}', '{a: "None", b: undefined,}', "{'a': 'null', 'b': null}"]) {
      assert.isNull((mend(named, sent).value as { readonly b?: unknown } | undefined)?.b, sent)
    }
  })

  it("text that was cut off is not closed: half an argument is none [P104]", () => {
    const schema = Struct({ path: Text, more: optionalKey(List(Finite)) })
    const cut = [
      '{"path":"/tmp/a',
      '{"path":"/tmp/a"',
      "{'path': '/tmp/a',",
      '{"path":"/tmp","more":[1,2',
      '{path:"if {} el'
    ]
    for (const sent of cut) assert.isUndefined(mend(schema, sent).value, sent)
    for (const sent of [
      "{'path': '/tmp/a',}",
      '{path: "/tmp/a"}',
      '{"path":"/tmp/a" /* x */}',
      '// x\n{"path":"/tmp/a"}}'
    ]) {
      assert.deepStrictEqual(mend(schema, sent).value, { path: "/tmp/a" }, sent)
    }
  })

  it("no number comes out of a text without a number, or with another number [P104]", () => {
    const wrong = [
      "abc",
      "",
      " 5 ",
      "5 ",
      "+5",
      "0x10",
      "1_000",
      "1,5",
      "05",
      ".5",
      "5.",
      "1e",
      "NaN",
      "Infinity",
      "5n",
      "-"
    ]
    const lossy = ["12345678901234567890", "9007199254740993", "1e400", "1e-400", "-0", "0.1000000000000000055", "٣"]
    for (const text of [...wrong, ...lossy]) assert.isUndefined(mend(Struct({ n: Finite }), { n: text }).value, text)
    const fine = { "5": 5, "-5": -5, "1.50": 1.5, "1e3": 1000, "0": 0, "0.0": 0, "0.1": 0.1, "1E+21": 1e21, "100": 100 }
    for (const [text, n] of Object.entries(fine)) {
      assert.deepStrictEqual(mend(Struct({ n: Finite }), { n: text }).value, { n }, text)
    }
    assert.isUndefined(mend(Struct({ n: Schema.Boolean }), { n: "true" }).value)
    assert.isUndefined(mend(Struct({ n: Schema.Boolean }), { n: "1" }).value)
    assert.isUndefined(mend(Struct({ n: Schema.Int }), { n: "1.5" }).value)
  })

  it("a number becomes the text that the model wrote, or none [P104]", () => {
    const schema = Struct({ id: Text, n: optionalKey(Finite) })
    const written = ["1.10", "12345678901234567890", "1e3", "0.0000001", "-0", "7", "1e400"]
    for (const id of written) assert.deepStrictEqual(mend(schema, `{"id": ${id} }`).value, { id }, id)
    assert.deepStrictEqual(mend(schema, JSON.stringify('{"id":1.10}')).value, { id: "1.10" })
    assert.deepStrictEqual(mend(schema, '{"id":1.10,"n":11e-1}').value, undefined)
    assert.deepStrictEqual(mend(schema, '{"id":1.10,"n":"1.1"}').value, { id: "1.10", n: 1.1 })
    for (const id of [7, -1.5, 0]) assert.deepStrictEqual(mend(schema, { id }).value, { id: String(id) })
    for (const id of [2 ** 60, 1e21, -0]) assert.isUndefined(mend(schema, { id }).value)
  })

  it("a number is no text if text is the wire form of another type [P104]", () => {
    assert.isUndefined(mend(Struct({ on: Schema.DateFromString }), { on: 5 }).value)
    assert.isUndefined(mend(Struct({ on: Schema.Date }), { on: 2024 }).value)
  })

  it("an entry of a record, an item of a list and the arguments themselves are not dropped [P104]", () => {
    assert.isUndefined(mend(Schema.Record(Text, Finite), { a: null }).value)
    assert.isUndefined(mend(Struct({ l: List(Finite) }), { l: [1, null] }).value)
    assert.isUndefined(mend(Struct({ l: Schema.Tuple([Finite, optionalKey(Finite)]) }), { l: [1, ""] }).value)
    assert.isUndefined(mend(Struct({ a: optionalKey(Finite) }), '""').value)
    const lenient = Schema.StructWithRest(Struct({ a: optionalKey(Finite) }), [Schema.Record(Text, Finite)])
    assert.deepStrictEqual(mend(lenient, { a: null, b: 1 }).value, { b: 1 })
    assert.isUndefined(mend(lenient, { a: null, b: null }).value)
  })

  it("a change after which its place does not fit is undone, and the others stay [P104]", () => {
    const noted = Struct({ id: Finite, note: Text })
    const ranked = Struct({ id: Finite, note: Finite, rank: Finite })
    const { changes, value } = mend(Union([noted, ranked]), { id: "1", note: "5" })
    assert.deepStrictEqual(value, { id: 1, note: "5" })
    assert.deepStrictEqual(changes, [["convert-number", "id"]])
    const lenient = Struct({ a: optionalKey(Finite), b: Schema.NullOr(Finite), s: Text })
    const other = Struct({ b: optionalKey(Finite), z: Text })
    assert.deepStrictEqual(mend(Union([lenient, other]), { a: null, b: null, s: "x" }).value, { b: null, s: "x" })
  })

  it("if no step helps, the value and the issues are the model's own [P104]", () => {
    const { issues, tries, value } = mend(flight, { to: 5, seats: "two", guest: '{"name":1}', more: null })
    assert.isUndefined(value)
    assert.deepStrictEqual(issues, ["to", "seats", "guest", "more"].toSorted())
    assert.deepStrictEqual(tries[0], { to: 5, seats: "two", guest: '{"name":1}', more: null })
  })
})

it.run("the error is about what the model sent, with every issue; half-mended arguments make no event [P104]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = keeping(flight)
    const log = eventLog()
    const sent = { to: 5, seats: "two", meals: "[1]" }
    const model = yield* ScriptedModel.make(calls(call("keep", JSON.stringify(sent), "c1")))
    const error = yield* Effect.flip(run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    if (!(error instanceof ToolError.DeserializationError)) return assert.fail(`not expected: ${error.message}`)
    assert.deepStrictEqual(error.rawValue, sent)
    assert.sameDeepMembers(
      error.issues.map(({ actual, path }) => [path, actual]),
      [
        [["to"], "number 5"],
        [["seats"], 'string "two"'],
        [["meals"], 'string "[1]"']
      ]
    )
    assert.deepStrictEqual([log.of("arguments-coerced"), seen], [[], []])
    return undefined
  })
)

it.run("the error names a null for an absent field only if no other field is wrong [P104]", (run) =>
  Effect.gen(function* () {
    const search = Struct({
      query: Text,
      limit: optionalKey(Finite),
      within: optionalKey(Struct({ days: Finite, zone: optionalKey(Text) })),
      rank: optionalKey(Finite)
    })
    const issuesFor = (sent: unknown, coercion?: ReadonlyArray<Coercion.CoercionStep>) =>
      Effect.gen(function* () {
        const { tool } = keeping(search, coercion)
        const model = yield* ScriptedModel.make(calls(call("keep", JSON.stringify(sent), "c1")))
        const error = yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
        if (!(error instanceof ToolError.DeserializationError)) return assert.fail(`not expected: ${error.message}`)
        assert.deepStrictEqual(error.rawValue, sent)
        return error.issues.map(({ path }) => path.join(".")).toSorted()
      })
    const within = { days: "two", zone: null }
    assert.deepStrictEqual(yield* issuesFor({ query: "x", limit: null, within, rank: null }), ["within.days"])
    assert.deepStrictEqual(yield* issuesFor({ query: null, limit: null, within: null, rank: null }), ["query"])
    // one that is no optional field, or nothing that stands for absence; undeclared keys are dropped as well
    const other = { query: "x", limit: "", more: null, within: { days: null } }
    assert.deepStrictEqual(yield* issuesFor(other), ["limit", "within.days"])
    assert.deepStrictEqual(yield* issuesFor(other, Coercion.answerSteps), ["limit", "more", "within.days"])
    // without the step it is as wrong as anything else
    assert.deepStrictEqual(yield* issuesFor({ query: "x", limit: null }, []), ["limit"])
    assert.deepStrictEqual(yield* issuesFor({ query: null, limit: null }, ["convert-number"]), ["limit", "query"])
  })
)

describe("idempotent, total, bounded [P105]", () => {
  it("the number of decodes does not grow with the number of places [P105]", () => {
    const items = Struct({
      l: List(Union([Struct({ a: Finite, b: optionalKey(Finite) }), Struct({ a: Finite, c: Text })]))
    })
    const of = (n: number) =>
      mend(items, { l: Array.from({ length: n }, (_, i) => ({ a: "1", b: i % 2 ? "x" : null })) })
    const { decodes } = of(1_000)
    assert.strictEqual(of(3).decodes, decodes)
    assert.isAtMost(decodes, 11)
    // more than a call takes arguments
    const many = 130_000
    const good = mend(Struct({ l: List(Finite) }), { l: Array.from({ length: many }, (_, i) => String(i)) })
    assert.strictEqual(good.changes.length, many)
    assert.strictEqual(good.decodes, 2)
  })

  it("ten thousand levels neither throw nor become a defect [P105]", () => {
    interface Node {
      readonly n: number
      readonly kids: ReadonlyArray<Node>
    }
    const node = Struct({ n: Finite, kids: List(Schema.suspend((): Schema.Codec<Node> => node)) })
    const deep = (n: number) => '{"n":"1","kids":['.repeat(n) + "]}".repeat(n)
    assert.isDefined(mend(node, deep(100)).value)
    for (const levels of [10_000, 100_000]) {
      const { tool } = keeping(node)
      const exit = Effect.runSync(Effect.result(Tool.call(tool, deep(levels))))
      assert.isTrue(Result.isFailure(exit) && exit.failure instanceof ToolError.DeserializationError)
      const list = "[".repeat(levels) + "]".repeat(levels)
      assert.deepInclude(mend(Struct({ j: Schema.Json, n: Finite }), `{"n":"5","j":${list}}`).value, { n: 5 })
      assert.isDefined(mend(Struct({ l: Schema.Json, n: Finite }), { n: "5", l: list }).value)
      for (const text of ["{", "{[", "[{"]) assert.isUndefined(mend(flight, text.repeat(levels)).value)
    }
  })

  it("takes linear time for adversarial texts [P105]", () => {
    const n = 300_000
    const hard = [
      "```" + " ".repeat(n),
      "```" + " \n".repeat(n) + "x",
      "```" + "``` ".repeat(n) + "x",
      "`".repeat(n),
      '{"a":' + '"b" '.repeat(n),
      "{a: '" + `"'`.repeat(n),
      '{"a":"' + '\n"'.repeat(n),
      "{" + " ".repeat(n) + "x",
      JSON.stringify({ to: " ".repeat(n), seats: "0".repeat(n), guest: "[".repeat(n), meals: `${" ".repeat(n)}[` })
    ]
    // what is not linear takes longer than any test may
    for (const text of hard) assert.isUndefined(mend(flight, text).value)
  })
})

it("what is unwrapped counts as deep as where it comes to be, with other changes and alone [P1393]", () => {
  const schema = Struct({ a: List(Schema.Json), n: optionalKey(Finite) })
  const lists = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
  for (const rest of [{}, { n: "5" }]) {
    assert.isDefined(mend(schema, { a: lists(999), ...rest }).value)
    assert.isUndefined(mend(schema, { a: lists(1000), ...rest }).value)
  }
  // what came as JSON is not held to a depth here
  assert.deepInclude(mend(schema, { a: JSON.parse(lists(1000)), n: "5" }).value, { n: 5 })
})

it.run("text that holds JSON is unwrapped as deeply as arguments may be nested, and no deeper [P1393]", (run) =>
  Effect.gen(function* () {
    const lists = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    const tool = Tool.make("keep", {
      description: "Keeps.",
      parameters: Struct({ a: List(Schema.Json) }),
      success: Text,
      run: () => Effect.succeed("kept")
    })
    // an approval digests all of the arguments
    const agent = agentWith(tool.pipe(Tool.requireApproval(), Tool.onError({ orElse: Recovery.tell(() => "told") })))
    for (const [levels, expected] of [
      [900, "result: kept"],
      [1200, "told: told"],
      [50_000, "told: told"]
    ] as const) {
      const model = yield* ScriptedModel.make(calls(call("keep", { a: lists(levels) })), ScriptedModel.text("done"))
      const approving = Approval.layer(() => Effect.succeed(Approval.approve))
      yield* run(agent, "go").pipe(Effect.provide(approving), Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [expected], `${levels}`)
    }
  })
)
