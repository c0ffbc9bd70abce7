/**
 * The colours of all pictures, by what they mean, for light and dark paper. Readers with any of the three kinds of colour blindness
 * can tell apart what has to be told apart; a test simulates that. Gold is for what broke and was joined.
 */

/** Colours as `#rrggbb`. */
export interface Palette {
  /** The background, and a surface that is raised from it. */
  readonly paper: string
  readonly raised: string
  /** Text, text that matters less, and lines that matter least. */
  readonly ink: string
  readonly quiet: string
  readonly line: string
  /** The layers. */
  readonly run: string
  readonly turn: string
  readonly model: string
  readonly transport: string
  readonly tool: string
  readonly fixer: string
  /** Failures. */
  readonly failed: string
  /** Seams. */
  readonly gold: string
  /** Text on a layer or on a failure. */
  readonly onFill: string
}

/** On light paper. */
export const light: Palette = {
  paper: "#fbf9f4",
  raised: "#f2eee4",
  ink: "#22252b",
  quiet: "#5d6069",
  line: "#dcd6c8",
  run: "#c9c4b6",
  turn: "#dfdacd",
  model: "#3f5b79",
  transport: "#77b1d8",
  tool: "#0c7f66",
  fixer: "#9258af",
  failed: "#c24b1f",
  gold: "#b98905",
  onFill: "#ffffff"
}

/** On dark paper. */
export const dark: Palette = {
  paper: "#15171c",
  raised: "#1e2128",
  ink: "#ece8de",
  quiet: "#a6a9b1",
  line: "#343842",
  run: "#4a4e58",
  turn: "#363a44",
  model: "#5480c7",
  transport: "#8ecaef",
  tool: "#27ae82",
  fixer: "#bd92c8",
  failed: "#e27038",
  gold: "#eebd3d",
  onFill: "#101216"
}
