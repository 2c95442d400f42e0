"""Words that people write in dates, in many languages, in; numbers of months and offsets of zones out."""

from __future__ import annotations

import unicodedata
from typing import Final

#: Names and abbreviations by month, without accents, in some thirty languages: of Europe, Turkish, Indonesian, Chinese.
#: A name of two months (listopada) is that of the language which writes more feeds.
_MONTHS: Final = {
    1: (
        "january jan janv janvier januar januari enero ene gennaio gen janeiro gener janvari jaan jaanuar tammikuu"
        " tammikuuta stycznia styczen sty leden ledna led sijecanj sijecnja januara januarja ianuarie ian sausio"
        " sausis ocak oca janner ιανουαριος ιανουαριου ιαν январь января янв січень січня січ януари јануар 一月"
    ),
    2: (
        "february feb febr fevrier fevr fev februar februari febrero febbraio fevereiro febrer helmikuu helmikuuta"
        " luty lutego lut unor unora veljaca veljace februara februarja februarie veebruar vasario vasaris subat sub"
        " φεβρουαριος φεβρουαριου φεβ февраль февраля фев февр лютий лютого лют февруари фебруар 二月"
    ),
    3: (
        "march mar mars marz maerz maart mrt marzo marco marc maaliskuu maaliskuuta marca marzec brezen brezna bre"
        " ozujak ozujka martie marcius marts kovas kovo mart martti maret μαρτιος μαρτιου μαρ март марта мар березень"
        " березня бер 三月"
    ),
    4: (
        "april apr avr avril abril abr aprile aprill huhtikuu huhtikuuta kwiecien kwietnia kwi duben dubna dub"
        " travanj travnja aprila aprilie aprilis balandis balandzio nisan nis απριλιος απριλιου απρ апрель апреля апр"
        " квітень квітня квіт април 四月"
    ),
    5: (
        "may mai mayo maggio mag maio maig mei maj majus toukokuu toukokuuta maja kveten kvetna kve svibanj svibnja"
        " mayis geguze geguzes maijs μαιος μαιου μαι май мая травень травня трав мај 五月"
    ),
    6: (
        "june jun juin juni junio giugno giu junho juny kesakuu kesakuuta czerwiec czerwca cze cerven cervna lipanj"
        " lipnja juna junija iunie iun junius juuni junijs birzelis birzelio haziran haz ιουνιος ιουνιου ιουν июнь"
        " июня июн червень червня черв юни јун 六月"
    ),
    7: (
        "july jul juil juillet juli julio luglio lug julho juliol heinakuu heinakuuta lipiec lipca lip cervenec"
        " cervence srpanj srpnja jula julija iulie iul julius juuli julijs liepa liepos temmuz tem ιουλιος ιουλιου"
        " ιουλ июль июля июл липень липня лип юли јул 七月"
    ),
    8: (
        "august aug aout agosto ago agost augustus augusti elokuu elokuuta sierpien sierpnia sie srpen srpna srp"
        " kolovoz kolovoza avgust avgusta augusztus augusts rugpjutis rugpjucio agustos agu αυγουστος αυγουστου αυγ"
        " август августа авг серпень серпня серп 八月"
    ),
    9: (
        "september sep sept septembre septiembre setiembre settembre set setembro setembre syyskuu syyskuuta"
        " wrzesien wrzesnia wrz zari rujan rujna septembra septembrie szeptember szept septembris rugsejis rugsejo"
        " eylul eyl σεπτεμβριος σεπτεμβριου σεπ сентябрь сентября сен сент вересень вересня вер септември септембар"
        " 九月"
    ),
    10: (
        "october oct octobre oktober okt octubre ottobre ott outubro out lokakuu lokakuuta pazdziernik pazdziernika"
        " paz rijen rijna rij oktobra octombrie oktoober oktobris spalis spalio ekim eki οκτωβριος οκτωβριου οκτ"
        " октябрь октября окт жовтень жовтня жовт октомври октобар 十月"
    ),
    11: (
        "november nov novembre noviembre novembro marraskuu marraskuuta listopad listopadu listopada lis studeni"
        " studenoga novembra noiembrie noi novembris lapkritis lapkricio kasim kas nopember νοεμβριος νοεμβριου νοε"
        " ноябрь ноября ноя листопад листопада лист ноември новембар 十一月"
    ),
    12: (
        "december dec decembre dezember dez diciembre dic dicembre dezembro desembre des desember joulukuu"
        " joulukuuta grudzien grudnia gru prosinec prosince pro prosinac prosinca decembra decembrie detsember dets"
        " decembris gruodis gruodzio aralik ara δεκεμβριος δεκεμβριου δεκ декабрь декабря дек грудень грудня груд"
        " декември децембар 十二月"
    ),
}

#: Minutes east of UTC. Where an abbreviation has several meanings, the one that feeds mean.
ZONE_MINUTES: Final = {
    **dict.fromkeys(("z", "ut", "utc", "gmt", "wet", "uct"), 0),
    **dict.fromkeys(("bst", "west", "cet", "met", "mez", "wat"), 60),
    **dict.fromkeys(("cest", "mest", "mesz", "eet", "sast", "cat"), 120),
    **dict.fromkeys(("eest", "msk", "eat", "trt"), 180),
    **dict.fromkeys(("msd", "gst"), 240),
    **dict.fromkeys(("ist",), 330),
    **dict.fromkeys(("pkt", "yekt"), 300),
    **dict.fromkeys(("ict", "wib"), 420),
    **dict.fromkeys(("hkt", "sgt", "pht", "awst", "myt", "wita"), 480),
    **dict.fromkeys(("jst", "kst", "wit"), 540),
    **dict.fromkeys(("acst",), 570),
    **dict.fromkeys(("aest",), 600),
    **dict.fromkeys(("acdt",), 630),
    **dict.fromkeys(("aedt",), 660),
    **dict.fromkeys(("nzst",), 720),
    **dict.fromkeys(("nzdt",), 780),
    **dict.fromkeys(("brt", "art", "adt"), -180),
    **dict.fromkeys(("nst",), -210),
    **dict.fromkeys(("ndt",), -150),
    **dict.fromkeys(("ast", "edt", "clt"), -240),
    **dict.fromkeys(("est", "cdt", "pet", "cot"), -300),
    **dict.fromkeys(("cst", "mdt"), -360),
    **dict.fromkeys(("mst", "pdt"), -420),
    **dict.fromkeys(("pst", "akdt"), -480),
    **dict.fromkeys(("akst",), -540),
    **dict.fromkeys(("hst",), -600),
}
#: Words for the half of the day: True is after noon.
AFTERNOON: Final = {
    **dict.fromkeys(("am", "a.m.", "a.m", "午前", "上午", "오전", "凌晨", "早上"), False),
    **dict.fromkeys(("pm", "p.m.", "p.m", "午後", "下午", "오후", "晚上"), True),
}
#: Japanese eras: the year before their first.
ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}
#: Letters whose stroke or missing dot is no combining mark.
_UNACCENTED: Final = str.maketrans("ıłøđ", "ilod")


def plain(text: str) -> str:
    """Lower case, in one form of width, without accents: what the tables here are written in."""
    text = unicodedata.normalize("NFKC", text).lower()
    if text.isascii():
        return text
    kept = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    kept = unicodedata.normalize("NFC", kept)  # Hangul must come together again
    return kept.translate(_UNACCENTED)


#: Month of a word, in the form of `plain`.
MONTHS: Final = {plain(word): number for number, words in _MONTHS.items() for word in words.split()}
