// The table of pages: one line each, by the address after `#`. The requests of each are a line of `routes.py`.
import { Checks } from './checks.js';
import { Decisions } from './decisions.js';
import { Games } from './games.js';
import { Home } from './home.js';
import { Overlay } from './overlay.js';
import { Pairs } from './pairs.js';
import { Play } from './play.js';
import { Policy } from './policy.js';
import { Population } from './population.js';
import { Replay } from './replay.js';
import { Report } from './report.js';
import { Run } from './run.js';

/**
 * `Page` draws the page from `query` and `library`. `title` is its word in the navigation, where it is shown if the folder
 * has some of what it `needs`; the browser's tab has it, too, or `tab` where there is none; `under` is the page there that leads to it. `names` is the part of the query that must be
 * given, and what it names. A page that is `offline` works in an exported file, too.
 */
export const VIEWS = {
  '/': { Page: Home, title: 'Overview', offline: true },
  '/games': { Page: Games, title: 'Games', names: ['record', 'record'], needs: ['records'], offline: true },
  '/decisions': { Page: Decisions, title: 'Decisions', names: ['record', 'record'], needs: ['records'] },
  '/checks': { Page: Checks, title: 'Checks', names: ['record', 'record'], needs: ['records'] },
  '/policy': { Page: Policy, title: 'Policy' },
  '/population': { Page: Population, title: 'Population', needs: ['records', 'runs'] },
  '/play': { Page: Play, title: 'Play' },
  '/replay': { Page: Replay, tab: 'Replay', names: ['id', 'episode'], under: '/games' },
  '/pairs': { Page: Pairs, tab: 'Pairs', names: ['record', 'record'], under: '/games' },
  '/run': { Page: Run, tab: 'Run', names: ['name', 'run'], under: '/' },
  '/report': { Page: Report, tab: 'Report', names: ['run', 'run'], under: '/' },
  '/runs': { Page: Overlay, tab: 'Runs', names: ['runs', 'run'], under: '/' },
};
