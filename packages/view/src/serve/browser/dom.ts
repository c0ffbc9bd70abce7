/** Makes HTML elements. Texts are set as text, so they never become markup. */
import { visible } from "../../text/Escape.ts"

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Makes an element with attributes and children. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : visible(String(value)))
  made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)))
  return made
}

/** Makes a button that calls a function. */
export const button = (text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement => {
  const made = element("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}

/** Makes a field with its label before it. */
export const labelled = (text: string, field: HTMLElement): HTMLElement =>
  element("label", { class: "field" }, element("span", {}, text), field)

/** A box to tick, with its label after it. */
export const tick = (text: string, isTicked: boolean, attributes: Attributes = {}): [HTMLElement, HTMLInputElement] => {
  const box = element("input", { type: "checkbox", checked: isTicked, ...attributes })
  return [element("label", { class: "tick" }, box, text), box]
}

/** A duration in milliseconds, in short. */
export const lasting = (milliseconds: number): string => {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`
}

/** A value as text: JSON if it is no text. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "")

export const brief = (text: string, length = 90): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text
