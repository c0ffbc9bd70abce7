/** Plain functions as tools: what they throw becomes a typed failure. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Issue from "../data/Issue.ts"
import { thrownBy } from "../errors/Thrown.ts"
import { type FunctionError, type Kind, resultErrorOf } from "../errors/ToolError.ts"
import type { ToolContext } from "./ToolDefinition.ts"
import { runOf, schemaOf } from "./define.ts"

interface Foreign<Params, A> {
  readonly kind?: Kind
  readonly parameters: Schema.Codec<Params, unknown, unknown, unknown>
  readonly success: Schema.Codec<A, unknown>
  readonly run: (params: Params, context: ToolContext & { readonly signal: AbortSignal }) => A | Promise<A>
}

export const lift = <Params, A>(tool: string, { kind = "local", parameters, run, success }: Foreign<Params, A>) => {
  runOf(tool, run)
  schemaOf(tool, "parameters", parameters)
  schemaOf(tool, "success", success)
  // a schema that has to wait or needs services dies here: then the error shows no arguments
  const encode = Schema.encodeUnknownExit(Schema.toCodecJson(parameters as Schema.Codec<Params, unknown, unknown>))
  const fits = Schema.decodeUnknownResult(Schema.toType(success), { errors: "all" })
  return (params: Params, context: ToolContext): Effect.Effect<A, FunctionError> => {
    const callOf = () => {
      const encoded = encode(params)
      return { callId: context.callId, args: Exit.isSuccess(encoded) ? encoded.value : null }
    }
    const running = Effect.tryPromise({
      // in an async function, an error before the first promise becomes a rejection too
      try: async (signal) => run(params, { ...context, signal }),
      catch: (cause) => thrownBy(tool, kind, callOf(), cause)
    })
    return Effect.flatMap(running, (value) => {
      const checked = fits(value)
      if (checked._tag === "Success") return Effect.succeed(value)
      const issues = Issue.fromSchema(checked.failure.issue, value).map(Issue.format).join("; ")
      const message = `it gave a value that its success schema refuses: ${issues}`
      return Effect.fail(resultErrorOf({ tool, kind, message, ...callOf() }))
    })
  }
}
