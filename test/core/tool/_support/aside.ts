/** What the tests of results that are put aside share. */
import { Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { settlements } from "../../../_support/dialogue.ts"

const { answers, call } = ScriptedModel

export const putAside = Tool.putAside({ above: 100 })

/** A tool whose n-th result is the n-th text. */
export const pages = <const Name extends string>(name: Name, ...results: ReadonlyArray<string>) => {
  let nth = 0
  return Tool.make(name, {
    description: `The tool ${name}.`,
    parameters: Schema.Struct({}),
    success: Schema.String,
    putAside,
    run: () => Effect.sync(() => results[nth++] ?? "")
  })
}

export const digits = (length: number) => Array.from({ length }, (_, index) => String(index % 10)).join("")

export const notice =
  /\[Characters 0 to (\d+) of (\d+)\. The result is put aside: read on with read_result, with handle: "([^"]+)" and from: (\d+)\.\]$/

/** The handle that a settlement names. */
export const handleIn = (settlement = ""): string => notice.exec(settlement)?.[3] ?? "none"

/** Calls `read_result` with the handle that the last settlement of its conversation names. */
export const reads = (params: { readonly from?: number; readonly length?: number; readonly handle?: string } = {}) =>
  answers(({ messages }) => {
    const handle =
      settlements(messages)
        .map(handleIn)
        .findLast((one) => one !== "none") ?? "none"
    return Effect.succeed(ScriptedModel.reply({ content: [call("read_result", { handle, ...params }, "r")] }))
  })
