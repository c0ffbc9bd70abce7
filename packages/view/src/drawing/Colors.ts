/**
 * The colours of all drawings, by what they mean, for a light and a dark background. Colours that must differ also differ for readers with
 * each of the three kinds of colour blindness; a test simulates that. Each sign has a contrast
 * of at least 3:1 with the background. Gold stands for recovery: a failure that was mended. The site has the same colours.
 */

/** The colours of a theme, as `#rrggbb`. */
export interface Palette {
  /** `paper`: the background. `raised`: a surface that stands out from it. */
  readonly paper: string
  readonly raised: string
  /** `ink`: text. `quiet`: text that matters less. `line`: thin lines. `edge`: the outline of what is paler than the signs. */
  readonly ink: string
  readonly quiet: string
  readonly line: string
  readonly edge: string
  /** The colours of the layers of a run. */
  readonly run: string
  readonly turn: string
  readonly model: string
  readonly transport: string
  readonly tool: string
  readonly fixer: string
  /** The colour of failures. */
  readonly failed: string
  /** The colour of recovery, and of texts about it. */
  readonly gold: string
  readonly goldInk: string
  /** The colour of text on the fill of a layer or of a failure. */
  readonly onFill: string
}

/** The colours on a light background. */
export const light: Palette = {
  paper: "#fbf9f4",
  raised: "#f2eee4",
  ink: "#22252b",
  quiet: "#5d6069",
  line: "#dcd6c8",
  edge: "#847f72",
  run: "#c9c4b6",
  turn: "#dfdacd",
  model: "#3f5b79",
  transport: "#4691b9",
  tool: "#0c7f66",
  fixer: "#8c50af",
  failed: "#ba3408",
  gold: "#b48000",
  goldInk: "#775700",
  onFill: "#ffffff"
}

/** The colours on a dark background. */
export const dark: Palette = {
  paper: "#15171c",
  raised: "#1e2128",
  ink: "#ece8de",
  quiet: "#a6a9b1",
  line: "#343842",
  edge: "#7f8592",
  run: "#4a4e58",
  turn: "#363a44",
  model: "#5480c7",
  transport: "#8ecaef",
  tool: "#27ae82",
  fixer: "#bd92c8",
  failed: "#e27038",
  gold: "#eebd3d",
  goldInk: "#eebd3d",
  onFill: "#101216"
}
