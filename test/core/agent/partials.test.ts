import { assert, it } from "@effect/vitest"
import { Agent, LlmError, type Model, Recovery, RunError, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Equal, Layer, Schema, Stream } from "effect"
import { agentWith, scripted } from "../../_support/dialogue.ts"

const { call, make, text } = ScriptedModel

/** A text that comes in these pieces. */
const pieces = (...parts: ReadonlyArray<string>): ScriptedModel.ScriptedStep => {
  const deltas = parts.map((part): Model.Part => ({ type: "text-delta", text: part }))
  const { answer } = text("")
  return { parts: deltas, answer, isCutOff: false }
}

const collect = <A, E>(stream: Stream.Stream<A, E, Model.Model>, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const model = yield* make(...steps)
    return yield* Stream.runCollect(stream).pipe(Effect.provide(model.layer))
  })

const seenOf = <S extends Schema.Codec<unknown, unknown>>(output: S, ...parts: ReadonlyArray<string>) =>
  collect(Agent.partials(Agent.make("writer", { output }))("go"), pieces(...parts))

const Report = Schema.Struct({
  title: Schema.String,
  on: Schema.DateFromString,
  stars: Schema.Finite,
  tags: Schema.Array(Schema.Struct({ name: Schema.String }))
})

it.effect("partials give what is there so far: texts, lists and objects grow, the rest comes complete [P301]", () =>
  Effect.gen(function* () {
    const parts = [
      'Here: {"ti',
      'tle":"He',
      'y","on":"2027-03',
      '-09T00:00:00.000Z","sta',
      'rs":4',
      '2,"tags":[{"name":"a',
      '"},{"na',
      'me":"b"}',
      "]}"
    ]
    const on = new Date("2027-03-09")
    assert.deepStrictEqual(yield* seenOf(Report, ...parts), [
      {},
      { title: "He" },
      { title: "Hey" },
      { title: "Hey", on },
      { title: "Hey", on, stars: 42, tags: [{ name: "a" }] },
      { title: "Hey", on, stars: 42, tags: [{ name: "a" }, {}] },
      { title: "Hey", on, stars: 42, tags: [{ name: "a" }, { name: "b" }] }
    ])
  })
)

it.effect(
  "a character that comes in two escapes is seen once, when it is whole, and a half that stays alone at the end [P301]",
  () =>
    Effect.gen(function* () {
      const Text = Schema.Struct({ t: Schema.String })
      assert.deepStrictEqual(yield* seenOf(Text, '{"t":"a', "\\ud83d", "\\ude00", '!"}'), [
        { t: "a" },
        { t: "a😀" },
        { t: "a😀!" }
      ])
      assert.deepStrictEqual(yield* seenOf(Text, '{"t":"a', "\ud83d", "\ude00", '"}'), [{ t: "a" }, { t: "a😀" }])
      assert.deepStrictEqual(yield* seenOf(Text, '{"t":"a', "\\ud83d", '"', "}"), [{ t: "a" }, { t: "a\ud83d" }])
    })
)

it.effect("what is no plain struct, list or text comes as a whole [P301]", () =>
  Effect.gen(function* () {
    class Point extends Schema.Class<Point>("Place")({ x: Schema.Finite, y: Schema.Finite }) {
      sum() {
        return this.x + this.y
      }
    }
    const Odd = Schema.Struct({ wait: Schema.DurationFromMillis, at: Point, bytes: Schema.Uint8ArrayFromBase64 })
    const parts = ['{"wait":1', '000,"at":{"x":1,', '"y":2},"bytes":"AQ', 'I="}']
    const [empty, first, second, last, ...more] = yield* seenOf(Odd, ...parts)
    assert.deepStrictEqual([empty, more], [{}, []])
    assert.deepStrictEqual(first, { wait: Duration.seconds(1) })
    assert.strictEqual(second?.at?.sum(), 3)
    assert.deepStrictEqual(last?.bytes, Uint8Array.of(1, 2))
  })
)

it.effect("partials never change a value that was given, and give none twice [P301]", () =>
  Effect.gen(function* () {
    const all = [
      ...'{"title":"a\\u00e9\\n","tags":[{"name":"x"},{"name":"y"}],"stars":1.5e1,"on":"2027-03-09T00:00:00Z"}'
    ]
    const written: Array<string> = []
    const model = yield* make(pieces(...all))
    const seen = yield* Agent.partials(Agent.make("writer", { output: Report }))("go").pipe(
      Stream.tap((value) => Effect.sync(() => written.push(JSON.stringify(value)))),
      Stream.runCollect,
      Effect.provide(model.layer)
    )
    assert.deepStrictEqual(
      seen.map((value) => JSON.stringify(value)),
      written
    )
    assert.strictEqual(new Set(written).size, written.length)
  })
)

it.effect("partials of a text are its beginnings, of other texts there is the end only [P301]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* collect(Agent.partials(Agent.make("a", {}))("go"), pieces("a", "b", "", "c")), [
      "a",
      "ab",
      "abc"
    ])
    assert.deepStrictEqual(yield* seenOf(Schema.String, "a", "b"), ["a", "ab"])
    assert.deepStrictEqual(yield* seenOf(Schema.Literals(["yes", "no"]), "y", "es"), ["yes"])
    assert.deepStrictEqual(yield* seenOf(Schema.Finite, "4", "2"), [42])
  })
)

it.effect(
  "a text that is described or bounded grows as any other, and is held to its bounds when it is whole [P301]",
  () =>
    Effect.gen(function* () {
      const Note = Schema.Struct({
        title: Schema.String.annotate({ description: "In a few words." }),
        code: Schema.String.check(Schema.isMinLength(3))
      })
      assert.deepStrictEqual(yield* seenOf(Note, '{"title":"He', 'y","code":"a', 'bc"}'), [
        { title: "He" },
        { title: "Hey", code: "a" },
        { title: "Hey", code: "abc" }
      ])
    })
)

it.effect("partials know lists, records, alternatives and schemas within themselves [P301]", () =>
  Effect.gen(function* () {
    interface Tree {
      readonly label: string
      readonly children: ReadonlyArray<Tree>
    }
    const Tree = Schema.Struct({
      label: Schema.String,
      children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
    })
    assert.deepStrictEqual(
      yield* seenOf(Schema.Array(Tree), '[{"label":"a","children":[{"lab', 'el":"b","children":[]}]}]'),
      [[{ label: "a", children: [{}] }], [{ label: "a", children: [{ label: "b", children: [] }] }]]
    )
    const Loose = Schema.Struct({
      maybe: Schema.NullOr(Schema.String),
      notes: Schema.Record(Schema.String, Schema.String),
      either: Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])
    })
    assert.deepStrictEqual(
      yield* seenOf(Loose, '{"maybe":"x', '","notes":{"k":"v', '","l":"w"},"either":{"a":"', 'z"}}'),
      [
        { maybe: "x" },
        { maybe: "x", notes: { k: "v" } },
        { maybe: "x", notes: { k: "v", l: "w" } },
        { maybe: "x", notes: { k: "v", l: "w" }, either: { a: "z" } }
      ]
    )
  })
)

it.effect("each value comes as soon as no other value that the schema takes is possible [P301]", () =>
  Effect.gen(function* () {
    const Renamed = Schema.Struct({ a: Schema.String }).pipe(Schema.encodeKeys({ a: "b" }))
    interface Chain {
      readonly t: string
      readonly next: Chain | null
    }
    const Chain = Schema.Struct({
      t: Schema.String,
      next: Schema.NullOr(Schema.suspend((): Schema.Codec<Chain> => Chain))
    })
    const of = <S extends Schema.Codec<unknown, unknown>>(schema: S, ...parts: ReadonlyArray<string>) => ({
      schema,
      parts
    })
    const { Array: list, Finite, NullOr, Record, String: string, Struct, Trim, Tuple, TupleWithRest, Union } = Schema
    const Shape = Union([Struct({ a: string }), list(string), string, Finite])
    // for each the value of a field, in pieces, and what is seen of it after each: `undefined` where it is not there yet
    const cases: ReadonlyArray<readonly [ReturnType<typeof of>, ...seen: ReadonlyArray<unknown>]> = [
      [of(Trim, '" a', ' b"'), undefined, "a b"],
      [of(Renamed, '{"b":"', 'x"', "}"), undefined, undefined, { a: "x" }],
      [of(list(list(string)), "[[", '"a","b', '"],["c"', "]]"), [[]], [["a", "b"]], [["a", "b"], ["c"]]],
      [of(Tuple([string, Finite]), '["a', '",4', "2]"), ["a"], ["a"], ["a", 42]],
      [of(TupleWithRest(Tuple([Finite]), [string]), '[1,"a', '","b', '"]'), [1, "a"], [1, "a", "b"]],
      [
        of(TupleWithRest(Tuple([Finite]), [Finite, string]), "[1,2,", '3,"a', '"]'),
        undefined,
        undefined,
        [1, 2, 3, "a"]
      ],
      [of(Record(string, string), '{"k":"a', '","l":"b', '"}'), { k: "a" }, { k: "a", l: "b" }],
      [of(Record(Trim, string), '{" k":"a', '"}'), {}],
      [of(Record(Schema.TemplateLiteral(["x-", string]), string), '{"x-k":"a', '"}'), {}],
      [of(NullOr(string), '"a', 'b"'), "a", "ab"],
      [of(NullOr(string), "nu", "ll "), undefined, null],
      [of(NullOr(Finite), "4", "2 "), undefined, 42],
      [of(Schema.optional(string), '"a', 'b"'), "a", "ab"],
      [of(Schema.NullishOr(list(string)), '["a', 'b"]'), ["a"], ["ab"]],
      [of(Schema.NullishOr(Struct({ a: string })), '{"a":"x', 'y"}'), { a: "x" }, { a: "xy" }],
      [
        of(Chain, '{"t":"a","next":{"t":"b', '","next":null', "}}"),
        { t: "a", next: { t: "b" } },
        { t: "a", next: { t: "b", next: null } }
      ],
      [of(Shape, '{"a":"x', '"}'), { a: "x" }, { a: "x" }],
      [of(Shape, '["x', '"]'), ["x"], ["x"]],
      [of(Shape, '"x', 'y"'), "x", "xy"],
      [of(Shape, "4", "2 "), undefined, 42],
      [of(Union([Schema.Boolean, Struct({ a: string })]), "tr", "ue "), undefined, true],
      [of(Union([Schema.Boolean, Struct({ a: string })]), '{"a":"x', '"}'), { a: "x" }, { a: "x" }],
      [of(Union([Schema.Number, string]), '"Na', 'N"'), "Na", "NaN"],
      [of(Union([Schema.Number, list(string)]), '["x', '"]'), ["x"], ["x"]],
      [of(Union([Schema.Literal("a"), string]), '"a', 'b"'), undefined, "ab"],
      [of(Union([Schema.Literal("a"), Struct({ a: string }), list(string)]), '{"a":"x', '"}'), { a: "x" }, { a: "x" }],
      [of(Union([Schema.DateFromString, string]), '"a', 'b"'), undefined, "ab"],
      [of(Union([Schema.DateFromString, Struct({ a: string })]), '{"a":"x', '"}'), { a: "x" }, { a: "x" }],
      [of(Union([Struct({ a: string }), Renamed]), '{"a":"x', '"}'), undefined, { a: "x" }],
      [of(Union([list(string), list(Finite)]), '["x', '"]'), undefined, ["x"]],
      [of(Union([Schema.Unknown, Struct({ a: string })]), '{"a":"x', '"}'), undefined, { a: "x" }]
    ]
    for (const [{ parts, schema }, ...seen] of cases) {
      const [first = "", ...rest] = parts
      const values = yield* seenOf(Struct({ end: string, v: schema }), `{"v":${first}`, ...rest, ',"end":"."}')
      const last: { readonly end?: string } = values.at(-1) ?? {}
      assert.strictEqual(last.end, ".")
      const shown = seen.map((v) => (v === undefined ? {} : { v }))
      // none is given twice
      const given = [...shown, { ...shown.at(-1), end: "." }, last].filter(
        (value, index, all) => !Equal.equals(value, all[index - 1])
      )
      assert.deepStrictEqual(values, given, `${parts.join("|")} of ${schema.ast._tag}`)
    }
  })
)

it.effect(
  "partials of a list begin where the list begins, and of a text that is decoded there is the end only [P301]",
  () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* seenOf(Schema.Array(Schema.String), "Here you are: ", '["a"', "]"), [["a"]])
      assert.deepStrictEqual(yield* seenOf(Schema.Trim, " a", " b "), ["a b"])
    })
)

it.effect(
  "partials show no value of another kind, and no item beyond the last, of an answer that does not fit [P301]",
  () =>
    Effect.gen(function* () {
      const agent = Agent.make("w", { output: Schema.Struct({ t: Schema.String, two: Schema.Tuple([Schema.Finite]) }) })
      const right = { t: "x", two: [1] as const }
      for (const t of ["5", "{}", "[]", '{"x":1}']) {
        const seen = yield* collect(
          Agent.partials(agent)("go"),
          pieces(`{"t":${t},"two":[1,`, "2,3],"),
          pieces(JSON.stringify(right))
        )
        assert.deepStrictEqual(seen, [{ two: [1] }, right])
      }
    })
)

it.effect("partials show nothing of the runs of an agent's tools, of any kind [P301]", () =>
  Effect.gen(function* () {
    const Note = Schema.Struct({ t: Schema.String })
    const inner = Agent.fallback(Agent.make("inner", { output: Note }))
    const asked = Agent.asTool(inner, { name: "ask", description: "Asks.", success: Note })
    const outer = Agent.make("outer", {
      output: Note,
      skills: [Skill.make("consults", { description: "Asks.", tools: [asked] })]
    })
    const steps = [ScriptedModel.calls(call("ask", { input: "now" })), text('{"t":"in"}'), pieces('{"t":"o', 'ut"}')]
    for (const agent of [outer, Agent.fallback(outer)]) {
      assert.deepStrictEqual(yield* collect(Agent.partials(agent)("go"), ...steps), [{ t: "o" }, { t: "out" }])
    }
  })
)

it.effect("partials show nothing that does not fit, and the output comes in any case [P301]", () =>
  Effect.gen(function* () {
    const parts = [
      '{"other":[1,{"x":2}],"title":5,"stars":"4',
      '2","tags":["no", {"name":"a"}],"title":"t","on":"2027-03-09T00:00:00Z"}'
    ]
    const Loose = Schema.Struct({ title: Schema.String, stars: Schema.Finite })
    const error = yield* Effect.flip(
      Effect.gen(function* () {
        const model = yield* make(pieces(...parts), text("no"))
        return yield* Stream.runCollect(Agent.partials(Agent.make("w", { output: Report }))("go")).pipe(
          Effect.provide(model.layer)
        )
      })
    )
    assert.instanceOf(error, RunError.InvalidOutputError)
    assert.deepStrictEqual(yield* seenOf(Loose, "{title: 'x', ", "stars: 1}"), [{}, { title: "x", stars: 1 }])
    assert.deepStrictEqual(yield* seenOf(Loose, '{"title":"x","stars":"', '1"}'), [
      { title: "x" },
      { title: "x", stars: 1 }
    ])
  })
)

it.effect("partials begin anew when the model is called again, without the calls of other turns [P301]", () =>
  Effect.gen(function* () {
    const Title = Schema.Struct({ title: Schema.NonEmptyString })
    assert.deepStrictEqual(
      yield* collect(
        Agent.partials(Agent.make("w", { output: Title }))("go"),
        pieces('{"title":""}'),
        pieces('{"title":"a', 'b"}')
      ),
      [{ title: "" }, { title: "a" }, { title: "ab" }]
    )
    const { tool } = scripted("look", Effect.succeed("x"))
    assert.deepStrictEqual(
      yield* collect(Agent.partials(agentWith(tool))("go"), ScriptedModel.calls(call("look", {})), pieces("a", "b")),
      ["a", "ab"]
    )
  })
)

it.effect("partials fail as the run fails, and an answer of its table is the last of them [P301]", () =>
  Effect.gen(function* () {
    const down = LlmError.ServerError.make({ model: "scripted" })
    const failing = ScriptedModel.fails(down, { type: "text-delta", text: '{"n":1' })
    const agent = Agent.make("w", { output: Schema.Struct({ n: Schema.Finite }) })
    const failed = yield* Effect.flip(collect(Agent.partials(agent)("go"), failing))
    assert.deepInclude(failed, { _tag: "ServerError", message: down.message, partial: '{"n":1' })
    const silent = agent.pipe(Agent.onLlmError({ orElse: Recovery.respondWith({ n: 0 }) }))
    assert.deepStrictEqual(yield* collect(Agent.partials(silent)("go"), failing), [{}, { n: 0 }])
  })
)

it.effect("partials show no half of a character, and an escape only when it is complete [P301]", () =>
  Effect.gen(function* () {
    const Title = Schema.Struct({ title: Schema.String })
    assert.deepStrictEqual(yield* seenOf(Title, '{"title":"a\ud83d', "\ude42", "\\u00", 'e9"}'), [
      { title: "a" },
      { title: "a\ud83d\ude42" },
      { title: "a\ud83d\ude42\u00e9" }
    ])
  })
)

it.effect(
  "a composition with the output of one part gives that part's partials; others give the output alone [P301]",
  () =>
    Effect.gen(function* () {
      const Note = Schema.Struct({ t: Schema.String })
      const parts = ['{"t":"a', 'b"}']
      const growing = [{ t: "a" }, { t: "ab" }]
      const writer = Agent.make("writer", { output: Note })
      const sub = Agent.deterministic("sub", (_said: string) => Effect.succeed({ t: "s" }))
      const seen = (
        agent: Agent.Any<string, typeof Note.Type, unknown, Model.Model>,
        ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
      ) => collect(Agent.partials(agent)("go"), ...steps)
      const provided = writer.pipe(Agent.provide(Layer.empty))
      const limited = Agent.fallback(provided).pipe(Agent.withBudget({ maxTurns: 5 }), Agent.named("limited"))
      for (const agent of [Agent.seal(provided), limited, Agent.fallback(limited), Agent.fallback(provided, sub)]) {
        assert.deepStrictEqual(yield* seen(agent, pieces(...parts)), growing)
      }
      const overloaded = ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "m" }), {
        type: "text-delta",
        text: '{"t":"x'
      })
      const order = Agent.fallback(provided, Agent.fallback(writer, writer))
      assert.deepStrictEqual(yield* seen(order, overloaded, overloaded, pieces(...parts)), [
        { t: "x" },
        { t: "x" },
        ...growing
      ])
      assert.deepStrictEqual(yield* seen(Agent.fallback(writer, sub), overloaded), [{ t: "x" }, { t: "s" }])
      const mapped = Agent.map(writer, ({ t }) => ({ t: `${t}!` }))
      assert.deepStrictEqual(yield* seen(mapped, pieces(...parts)), [{ t: "ab!" }])
      assert.deepStrictEqual(yield* seen(Agent.firstOf(writer, writer), pieces(...parts), pieces(...parts)), [
        { t: "ab" }
      ])
    })
)
