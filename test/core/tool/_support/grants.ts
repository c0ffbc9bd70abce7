/** A tool that pays if a person approves, and the person. */
import { Approval, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"

const { call, calls } = ScriptedModel

interface Paying {
  readonly description?: string
  readonly rules?: { readonly [name: string]: (params: { readonly cents: number }) => boolean }
  readonly when?: (params: { readonly cents: number }) => boolean
}

export const isSmall = ({ cents }: { readonly cents: number }) => cents < 100

/** A tool that needs approval, and what it has paid. */
export const paying = ({ description = "Pays.", rules = { small: isSmall }, when = () => true }: Paying = {}) => {
  const paid: Array<number> = []
  const tool = Tool.make("pay", {
    description,
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
  }).pipe(Tool.requireApproval({ rules, when }))
  return { paid, tool }
}

export const pays = (...cents: ReadonlyArray<number>) =>
  calls(...cents.map((each, index) => call("pay", { cents: each }, `c${index + 1}`)))

/** Decides about each request in turn, and remembers what was asked about. */
export const deciders = (...decisions: ReadonlyArray<Approval.Decision>) => {
  const asked: Array<Schema.Json> = []
  const layer = Approval.layer((request) =>
    Effect.sync(() => decisions[asked.push(request.arguments) - 1] ?? Approval.refuse("no more"))
  )
  return { asked, layer }
}

/** The cents that a person was asked about. */
export const centsOf = (asked: ReadonlyArray<Schema.Json>) =>
  asked.map((args) => JSON.stringify(args).replaceAll(/\D/g, ""))
