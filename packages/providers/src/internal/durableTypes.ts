/** What the types of an agent say about its runs as a workflow. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Agent, KintsugiError, Tool, ToolError } from "@kintsugi/core"

export type InputOf<A> = A extends (input: infer I) => unknown ? I : never
export type OutputOf<A> = A extends (input: never) => Effect.Effect<infer O, unknown, unknown> ? O : never
export type ServicesOf<A> = A extends (input: never) => Effect.Effect<unknown, unknown, infer R> ? R : never
type OwnErrorOf<A> = A extends (input: never) => Effect.Effect<unknown, infer E, unknown> ? E : never

/** Its tools, as far as its type knows them: those of the parts of a composition it does not. */
type ToolsOf<A> =
  A extends Agent.Agent<never, unknown, unknown, unknown, infer T, infer _B, infer _D, infer _M, infer _C> ? T : never

/** What it fails with in memory, and what is known of unsafe tools only where a process has died. */
export type ErrorOf<A> =
  | OwnErrorOf<A>
  | (Extract<Tool.SideEffectsOf<ToolsOf<A>>, "unsafe"> extends never ? never : ToolError.OutcomeUnknownError)

/** The failures that are not this library's. */
type ForeignOf<A> = Exclude<ErrorOf<A>, KintsugiError.KintsugiError>

/** The schema of failures that are not this library's: it has to know all of them. */
export type Errors<A> = [ForeignOf<A>] extends [never]
  ? { readonly error?: undefined }
  : { readonly error: Schema.Codec<ForeignOf<A>, unknown> }

/** The names of tools whose failures cannot be stored. */
type Unstorable<T> = T extends Tool.AnyTool
  ? [Exclude<Tool.ErrorOf<T>, KintsugiError.KintsugiError>] extends [never]
    ? never
    : Tool.TableOf<T> extends { readonly [Tool.StoredFailures]: true }
      ? never
      : Tool.NameOf<T>
  : never

/** Every tool has to know the schema of its own failures. */
export type CheckTools<A> = [Unstorable<ToolsOf<A>>] extends [never]
  ? unknown
  : ToolsNeedAFailureSchema<Unstorable<ToolsOf<A>>>

interface ToolsNeedAFailureSchema<Name> {
  readonly ToolsNeedAFailureSchema: Name
}
