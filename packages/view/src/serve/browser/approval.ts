/** Asks a person to approve a call: as it is, with other arguments, or not at all. */
import { button, element } from "../../browser/Element.ts"
import { asText, labelled } from "./dom.ts"
import type { Answer } from "./Wire.ts"

/** A request for approval, as its event has it. */
export interface Request {
  readonly digest: string
  readonly tool: string
  readonly arguments: unknown
  readonly reason: string
}

/** The card of a request. `answer` carries out what the person decides. */
export const approval = (request: Request, answer: (digest: string, answer: Answer) => void): HTMLElement => {
  const box = element("textarea", { rows: 5, "aria-label": "Arguments", spellcheck: "false" })
  box.value = asText(request.arguments)
  const reason = element("input", { type: "text", "aria-label": "Reason", placeholder: "reason" })
  const complaint = element("p", { class: "complaint", role: "alert" })
  const edited = () => {
    try {
      answer(request.digest, { type: "approve", arguments: JSON.parse(box.value) })
    } catch {
      complaint.textContent = "The arguments are no JSON."
    }
  }
  return element(
    "section",
    { class: "approval", "aria-label": `Approve ${request.tool}?` },
    element("h3", {}, `△ ${request.tool} waits for you`),
    ...(request.reason === "" ? [] : [element("p", {}, request.reason)]),
    labelled("Arguments", box),
    complaint,
    element(
      "p",
      { class: "acts" },
      button("Approve", () => answer(request.digest, { type: "approve" }), { class: "main" }),
      button("Approve with these", edited),
      button("Refuse", () => answer(request.digest, { type: "refuse", reason: reason.value || "refused" })),
      reason
    )
  )
}
