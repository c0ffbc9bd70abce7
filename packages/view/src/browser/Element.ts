/** Makes HTML elements. Texts are set as text, so they never become markup. */
import { visible } from "../text/Escape.ts"

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Makes an element with attributes and children. Invisible characters in texts are replaced by visible signs. */
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
export const button = (
  text: string,
  act: (event: MouseEvent) => void,
  attributes: Attributes = {}
): HTMLButtonElement => {
  const made = element("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}
