"""Words that deny an action or only consider it, in English and in other languages that models speak."""

from __future__ import annotations

_NEGATIONS = """
not no never none neither nor nothing nobody without cannot dont wont cant wouldnt shouldnt couldnt isnt wasnt didnt
doesnt arent hardly barely scarcely refuse refuses refused refusing avoid avoids avoided avoiding decline declines
declined declining reject rejects rejected rejecting except besides unlike doubt doubts doubtful unlikely forbid
forbidden illegal wrong mistake opposite contrary stop stopped quit nope nah nay against
nicht nein kein keine keinen keiner niemals nie nichts weder ohne
ne pas non jamais rien aucun sans
nunca jamás jamas ni nada tampoco sin não nao nem sem mai nemmeno neppure senza
niet geen nooit zonder ikke inte aldrig nej nu niciodată hiç değil hayır tidak bukan jangan không đừng
не нет ни никогда нельзя без ні ніколи δεν μην όχι
"""
_HEDGES = """
maybe perhaps possibly might could if unless whether unsure undecided considering considered consider consideration
tempted tempting hypothetically wonder wondering hesitate hesitant depends suppose supposing imagine pretend almost
nearly anything
vielleicht möglicherweise wenn falls ob peut être si quizás quizas tal acaso talvez forse wellicht misschien måske
kanske может возможно если belki mungkin
"""
_PHRASES = """
instead of|rather than|far from|would have|should have|used to|as if|think about|thinking about|im gegenteil|anstatt
statt|au lieu|en lugar|en vez|invece di|вместо
"""
_SIGNS = """
不 没 沒 別 别 非 勿 無 无 莫 ない ません なく じゃな ぬ 안 않 말 아니 못
لا لن لم ليس नहीं मत לא אל ไม่ อย่า ~~ ≠ != ¬ ❌ 🚫 ✗ ✘
"""
_LEADS = """
my the a final answer action move choice decision order orders bid demand offer response reply number is so then
therefore thus ok okay well i ll m will choose choosing pick picking play playing select selecting take taking go
going with do would be to am here now
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words by which an action is denied."""
HEDGES = frozenset(_HEDGES.split())
"""Words by which an action is only considered."""
PHRASES = tuple(phrase for line in _PHRASES.split("\n") for phrase in line.split("|") if phrase)
"""The same in several words."""
SIGNS = tuple(_SIGNS.split())
"""The same in scripts without spaces, and as signs."""
LEADS = frozenset(_LEADS.split())
"""Words that may stand before an action in quotation marks: `My answer is "BET"`."""
