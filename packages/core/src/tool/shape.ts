/** A tool as a value: its name and its definition. The types of its parameters, results and failures exist in its type only. */
import * as Inspectable from "effect/Inspectable"
import * as Pipeable from "effect/Pipeable"
import * as Predicate from "effect/Predicate"
import type { ToolDefinition } from "./ToolDefinition.ts"

export const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Tool")

/**
 * A tool, with the types of everything it does. `Params` is what `run` takes, `A` what it gives, `E` its failures before any recovery, `R`
 * what it needs, `Table` the rows of `onError` so far, `S` the declared side effects.
 */
export interface Tool<
  out Name extends string,
  in out Params,
  out A,
  out E,
  out R,
  in out Table = {},
  out S = "undeclared"
>
  extends Pipeable.Pipeable {
  readonly [TypeId]: {
    readonly _Params: (_: Params) => Params
    readonly _A: () => A
    readonly _E: () => E
    readonly _R: () => R
    readonly _Table: (_: Table) => Table
    readonly _S: () => S
  }
  readonly name: Name
  readonly definition: ToolDefinition
}

/** The prototype of tools: `pipe`, and what logs show of a tool. */
const Proto = {
  ...Inspectable.BaseProto,
  ...Pipeable.Prototype,
  toJSON(this: AnyTool) {
    const { description, kind, sideEffects } = this.definition
    return { _id: "Tool", name: this.name, description, kind, sideEffects }
  }
}

/** Any tool. `Params` and `Table` are invariant, so nothing but `any` stands for all of them. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type AnyTool = Tool<string, any, unknown, unknown, unknown, any, unknown>

/**
 * The name of a tool.
 *
 * @hidden
 */
export type NameOf<T> = T extends { readonly name: infer Name } ? Name : never

/**
 * What a tool fails with, before any recovery.
 *
 * @hidden
 */
export type ErrorOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_E"]> : never

/**
 * What a tool gives.
 *
 * @hidden
 */
export type SuccessOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_A"]> : never

/**
 * What a tool needs.
 *
 * @hidden
 */
export type ServicesOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_R"]> : never

/** The table of a tool, with the marks that its options leave there. */
export type TableOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_Table"]> : never

/**
 * What running a tool twice would do.
 *
 * @hidden
 */
export type SideEffectsOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_S"]> : never

/**
 * Makes a tool of its definition. The caller states its type, because a definition does not carry the types of a tool.
 *
 * @internal
 */
export function fromDefinition<T>(definition: ToolDefinition): T {
  return Object.assign(Object.create(Proto), { name: definition.name, definition, [TypeId]: TypeId })
}

/**
 * Whether a value is a tool.
 *
 * @internal
 */
export const isTool = (value: unknown): value is AnyTool => Predicate.hasProperty(value, TypeId)
