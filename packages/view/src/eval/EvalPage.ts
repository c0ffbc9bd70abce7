/** A report of `Eval` as one HTML file without a script. It has the drawing, and tables that tell the same. */
import type { EvalReport } from "@kintsugi/core/testing/Eval"
import { drawings, heading, page, paragraph, phone, table } from "../page/StillPage.ts"
import * as EvalSvg from "./EvalSvg.ts"
import { policyColumns, policyRows, scenarioColumns, scenarioRows, sentence } from "./words.ts"

/** The options of `make`. */
interface Options {
  /** The title of the page; `Recovery policies compared` by default. */
  readonly title?: string
}

/** Makes the text of the page. */
export const make = (report: EvalReport, { title = "Recovery policies compared" }: Options = {}): string =>
  page(
    title,
    [
      paragraph(sentence(report)),
      drawings(EvalSvg.draw(report), EvalSvg.draw(report, { width: phone })),
      heading("Policies"),
      table("All scenarios together; amounts are means of a run", policyColumns, policyRows(report)),
      heading("Scenarios"),
      table("Runs that passed, with the interval of 95 %", scenarioColumns(report), scenarioRows(report))
    ].join("\n")
  )
