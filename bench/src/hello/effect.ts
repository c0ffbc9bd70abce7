/** The same with Effect alone, imported by its subpaths: a loop by hand around one request. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Params = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Params))

const Reply = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({
      message: Schema.Struct({
        content: Schema.NullOr(Schema.String),
        tool_calls: Schema.optionalKey(
          Schema.Array(
            Schema.Struct({
              id: Schema.String,
              function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
            })
          )
        )
      })
    })
  )
})

const { schema: parameters } = Schema.toJsonSchemaDocument(Params)
const tools = [{ type: "function", function: { name: "add", description: "Adds two numbers.", parameters } }]

const ask = (baseUrl: string, messages: ReadonlyArray<object>) =>
  Effect.tryPromise(async () => {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer key" },
      body: JSON.stringify({ model: "m", messages, tools })
    })
    return (await response.json()) as unknown
  }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Reply)))

const run = Effect.fnUntraced(function* (input: string, baseUrl: string) {
  const messages: Array<object> = [{ role: "user", content: input }]
  for (let turn = 0; turn < 8; turn++) {
    const reply = yield* ask(baseUrl, messages)
    const message = reply.choices[0]?.message
    if (message?.tool_calls === undefined) return message?.content ?? ""
    messages.push({ role: "assistant", ...message })
    for (const call of message.tool_calls) {
      const { a, b } = yield* decode(call.function.arguments)
      messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(a + b) })
    }
  }
  return yield* Effect.die(new Error("too many turns"))
})

export const main = (input: string, baseUrl = "https://api.openai.com/v1"): Promise<string> =>
  Effect.runPromise(run(input, baseUrl))
