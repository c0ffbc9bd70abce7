/** The style of the page. */
import { dark, light, type Palette } from "../colors.ts"
import { themed } from "../style.ts"

const names = [
  "paper",
  "raised",
  "ink",
  "quiet",
  "line",
  "run",
  "turn",
  "model",
  "transport",
  "tool",
  "fixer",
  "failed",
  "gold"
] as const

const variables = (palette: Palette): string => names.map((name) => `--${name}:${palette[name]};`).join("")

const sheet = `
:root{color-scheme:light;${variables(light)}}
@media screen{[data-theme="dark"]{color-scheme:dark;${variables(dark)}}}
body{margin:0;background:var(--paper);color:var(--ink)}
`

/** All of it, as CSS. */
export const style: string = `${themed}${sheet}`
