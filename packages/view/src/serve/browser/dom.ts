/** Makes the fields of forms, and texts of values. */
import { element } from "../../browser/Element.ts"

/** Makes a field with its label before it. */
export const labelled = (text: string, field: HTMLElement): HTMLElement =>
  element("label", { class: "field" }, element("span", {}, text), field)

/** A box to tick, with its label after it. */
export const tick = (
  text: string,
  isTicked: boolean,
  attributes: Parameters<typeof element>[1] = {}
): [HTMLElement, HTMLInputElement] => {
  const box = element("input", { type: "checkbox", checked: isTicked, ...attributes })
  return [element("label", { class: "tick" }, box, text), box]
}

/** A value as text: JSON if it is no text. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "")
