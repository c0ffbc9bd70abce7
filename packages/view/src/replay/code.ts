/** What the parts of a written test share: the names in it, its errors, its helpers and its imports. */
import { list, literal, Names, quoted } from "./literals.ts"
import type { Failure, Script } from "./parts.ts"

/** The identifiers that the file has in any case. */
const taken = [
  "Agent Approval Backoff Compaction Data Effect Exit Fiber KintsugiError LlmError Message Model Recovery Schedule Schema ScriptedApprover ScriptedModel Stream",
  "TestClock Tool ToolPolicy answering behind beside beyond broken byCall call decodeError expect fails fixer gives it later libraryError outputOf input play program replyWith reply stub text waits wanted"
].flatMap((names) => names.split(" "))

/** The helpers of the file, each with what it needs to be there. */
const helpers: Readonly<Record<string, string>> = {
  call: "const { call } = ScriptedModel",
  text: "const { text } = Message",
  later: `/** The same effect after so many milliseconds. */
const later = <A, E, R>(millis: number, self: Effect.Effect<A, E, R>) =>
  millis === 0 ? self : Effect.delay(self, millis)`,
  gives: `const gives = (millis: number, text: string) => later(millis, Effect.succeed(text))`,
  fails: `const fails = <E>(millis: number, error: E) => later(millis, Effect.fail(error))`,
  reply: `const reply = (millis: number, ...content: Message.Reply["content"]) =>
  ScriptedModel.answers(() => later(millis, Effect.succeed(ScriptedModel.reply({ content }))))`,
  replyWith: `const replyWith = (millis: number, value: Partial<Message.Reply>) =>
  ScriptedModel.answers(() => later(millis, Effect.succeed(ScriptedModel.reply(value))))`,
  broken: `const broken = (millis: number, error: LlmError.LlmError, ...shown: ReadonlyArray<string>) => ({
  ...ScriptedModel.answers(() => later(millis, Effect.fail(error))),
  parts: shown.map((text) => ({ type: "text-delta", text }) as const)
})`,
  play: `/** A model that gives these replies. */
const play = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) => {
  const left = [...steps]
  return ScriptedModel.answering(() => left.shift() ?? ScriptedModel.text(beyond))
}`,
  stub: `/** A tool that does what the recording shows: the attempts of each call, by its id. */
const stub = <
  const Name extends string,
  const Calls extends Readonly<Record<string, ReadonlyArray<Effect.Effect<string, unknown, SERVICES>>>>
>(
  name: Name,
  calls: Calls
) => {
  const left = new Map(Object.entries(calls).map(([callId, attempts]) => [callId, [...attempts]]))
  type Attempt = Effect.Effect<string, Effect.Error<Calls[keyof Calls][number]>, SERVICES>
  return Tool.make(name, {
    description: \`Stands in for \${name}.\`,
    parameters: Schema.Record(Schema.String, Schema.Json),
    success: Schema.String,
    // cast: each attempt is one of \`calls\`
    run: (_, { callId }) => Effect.suspend(() => (left.get(callId)?.shift() ?? Effect.succeed(beyond)) as Attempt)
  })
}`,
  behind: `/** An attempt that awaits runs, one after the other, before it ends. */
const behind = <E, R>(self: Effect.Effect<string, E, R>, ...runs: ReadonlyArray<Effect.Effect<unknown, unknown, R>>) =>
  Effect.andThen(
    Effect.forEach(runs, (run) => Effect.ignore(run), { discard: true }),
    self
  )`,
  beside: `/** An attempt that starts runs beside its own work. */
const beside = <E, R>(self: Effect.Effect<string, E, R>, ...runs: ReadonlyArray<Effect.Effect<unknown, unknown, R>>) => {
  const others = Effect.forEach(runs, (run) => Effect.ignore(run), { concurrency: "unbounded", discard: true })
  return Effect.flatMap(Effect.all([others, Effect.exit(self)], { concurrency: "unbounded" }), ([, exit]) => exit)
}`,
  answering: `/** An agent that asks no model, and gives these answers. */
const answering = <const Answers extends ReadonlyArray<Effect.Effect<string, unknown>>>(
  name: string,
  ...answers: Answers
) => {
  const left = [...answers]
  // cast: each answer is one of \`answers\`
  const next = () => (left.shift() ?? Effect.succeed(beyond)) as Effect.Effect<string, Effect.Error<Answers[number]>>
  return Agent.deterministic(name, (_: string) => Effect.suspend(next))
}`,
  fixer: `/** A fixer that gives these answers. */
const fixer = (...answers: ReadonlyArray<Effect.Effect<string, unknown>>) => {
  const left = [...answers]
  return () => Effect.suspend(() => left.shift() ?? Effect.succeed(beyond))
}`,
  waits: `/** Retries after these waits in milliseconds. */
const waits = (...millis: ReadonlyArray<number>) =>
  Schedule.recurs(millis.length).pipe(Schedule.addDelay((number) => Effect.succeed(millis[number] ?? 0)))`,
  byCall: `/** A row that treated calls in different ways. */
const byCall = <Rows extends Readonly<Record<string, Row>>, Other extends Row>(rows: Rows, otherwise: Other) =>
  // cast: it is one of the keys
  Recovery.when((_: unknown, { callId = "" }) => (Object.hasOwn(rows, callId) ? rows[callId as keyof Rows] : otherwise))
type Row = Recovery.Verdict<unknown, unknown, unknown, unknown, unknown, unknown>`,
  libraryError: `/** An error of the library, as it was recorded. */
const libraryError = <const Tag extends KintsugiError.KintsugiError["_tag"]>(json: {
  readonly _tag: Tag
  readonly [field: string]: unknown
}) =>
  // cast: the tag says which error it is
  decodeError(json) as Extract<KintsugiError.KintsugiError, { readonly _tag: Tag }>
const decodeError = Schema.decodeUnknownSync(Schema.toCodecJson(KintsugiError.KintsugiError))`,
  outputOf: `/** The output of a streamed run, which its last event has. */
const outputOf = <E, R>(events: Stream.Stream<AgentEvent.AgentEvent, E, R>) =>
  Stream.runFold(
    events,
    (): unknown => undefined,
    (output, event) => (event.type === "run-completed" ? event.output : output)
  )`
}

/** What each helper uses besides. */
const uses: Readonly<Record<string, ReadonlyArray<string>>> = {
  gives: ["later"],
  fails: ["later"],
  reply: ["later"],
  replyWith: ["later"],
  broken: ["later"]
}

export class Code {
  readonly needsApprover: boolean
  readonly #names: Names
  readonly #agents = new Map<string, string>()
  readonly #classes = new Map<string, string>()
  readonly #used = new Set<string>()

  constructor(script: Script) {
    this.needsApprover = script.agents.some(({ tools }) => tools.some(({ approval }) => approval !== undefined))
    this.#names = new Names(taken)
  }

  /** The identifier of an agent. */
  nameOf(agent: string): string {
    const found = this.#agents.get(agent) ?? this.#names.of(agent)
    this.#agents.set(agent, found)
    return found
  }

  /** A new identifier. */
  newName(text: string): string {
    return this.#names.of(text)
  }

  /** Notes that the file uses a helper, and gives its name. */
  use(helper: string): string {
    // Mutant `["Stryker was here"]` survives: there is no such helper
    for (const other of uses[helper] ?? []) this.#used.add(other)
    this.#used.add(helper)
    return helper
  }

  /** The code that makes an error of the recording. */
  readonly error = ({ json, message, tag }: Failure): string => {
    if (json !== undefined) return `${this.use("libraryError")}(${literal(json)})`
    const name = this.#classes.get(tag) ?? this.#names.of(tag, true)
    this.#classes.set(tag, name)
    return `new ${name}({ message: ${quoted(message)} })`
  }

  errors(): string {
    return [...this.#classes]
      .map(([tag, name]) => `class ${name} extends Data.TaggedError(${quoted(tag)})<{ readonly message: string }> {}`)
      .join("\n")
  }

  helpers(): string {
    const services = this.needsApprover ? "Approval.Approver" : "never"
    const used = Object.entries(helpers).filter(([name]) => this.#used.has(name))
    return [
      "/** What comes after the recording: the reply of a model, and the result of one more attempt. Write what you expect. */",
      'const beyond = "The recording ends here."',
      ...used.flatMap(([, code]) => [
        ...(code.startsWith("/**") ? [""] : []),
        services === "never" ? code.replaceAll(", SERVICES", "") : code.replaceAll("SERVICES", services)
      ])
    ].join("\n")
  }

  /** The imports that the code needs. */
  imports(code: string): string {
    const bare = code.replaceAll(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, "")
    const words = new Set(bare.match(/\b[A-Z]\w*\b/g))
    const used = (names: ReadonlyArray<string>) => names.filter((name) => words.has(name))
    const from = (names: ReadonlyArray<string>, path: string) =>
      names.length === 0 ? [] : [`${list("import ", "{", names, "}")} from ${quoted(path)}`]
    const core = [
      "Agent",
      "AgentEvent",
      "Approval",
      "Backoff",
      "Compaction",
      "KintsugiError",
      "LlmError",
      "Message",
      "Model",
      "Recovery",
      "Tool",
      "ToolPolicy"
    ]
    return [
      ...from(used(core), "@kintsugi/core"),
      ...from(used(["ScriptedApprover", "ScriptedModel"]), "@kintsugi/core/testing"),
      ...from(used(["Data", "Effect", "Exit", "Fiber", "Schedule", "Schema", "Stream"]), "effect"),
      ...from(["TestClock"], "effect/testing"),
      ...from(["expect", "it"], "vitest")
    ].join("\n")
  }
}
