package classify

import (
	"iter"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// language has the rules for the words and titles of a language.
type language struct {
	code      string // of ISO 639-1
	stem      func(word []byte) []byte
	function  map[string]bool // function words, folded; they show the language, and are in no phrase
	modifiers map[string]bool // words for colours, materials, sizes and buyers, folded
	nounFirst bool            // the noun comes before the words that qualify it: "robe longue"
	compounds bool            // nouns are joined to one word, the head last: "Bratpfanne"
	spaceless bool            // there are no spaces between words
}

// english is the language of the taxonomies.
var english = &language{code: "en", stem: stem, function: wordSet(`the and for with of in from by on to without`)}

// languages are the languages with names of product categories.
var languages = []*language{
	{code: "cs", stem: keep, function: wordSet(`pro na se ze do od pri bez nebo`),
		modifiers: wordSet(`cerna bila cervena modra zelena zluta seda hneda ruzova damske damska panske panska detske detska bavlna kuze drevo ocel kov plast sklo sada baleni kus kusu velka mala nova`)},
	{code: "da", stem: snowball(danish.Stem), compounds: true, function: wordSet(`og med til af uden fra paa eller den det en et`),
		modifiers: wordSet(`sort hvid rod bla gron gul gra brun lyserod dame damer herre herrer born baby bomuld laeder trae stal metal plast glas saet pakke stk stor lille ny`)},
	{code: "de", stem: snowball(german.Stem), compounds: true, function: wordSet(`und mit fur aus ohne zum zur der die das den dem fuer inkl ab im ein eine oder bei von`),
		modifiers: wordSet(`schwarz weiss rot blau grun gelb grau braun rosa lila turkis bunt damen herren kinder madchen jungen baumwolle leder holz edelstahl stahl metall kunststoff glas wolle seide set pack packung stuck teilig teiliges gross klein neu zoll gr grosse`)},
	{code: "es", stem: snowball(spanish.Stem), nounFirst: true, function: wordSet(`el la los las de del y con para por sin en un una o`),
		modifiers: wordSet(`negro negra blanco blanca rojo roja azul azules verde amarillo gris marron rosa morado hombre mujer nino nina ninos bebe algodon piel cuero madera acero metal plastico vidrio lana seda juego pack unidades talla grande pequeno nuevo`)},
	{code: "fr", stem: snowball(french.Stem), nounFirst: true, function: wordSet(`le la les de du des et avec pour en sans a au aux un une sur ou dans`),
		modifiers: wordSet(`noir noire blanc blanche rouge bleu bleue vert verte jaune gris grise marron rose violet homme femme enfant fille garcon bebe coton cuir bois acier inox metal plastique verre laine soie lot pack pieces taille grand grande petit petite neuf`)},
	{code: "it", stem: snowball(italian.Stem), nounFirst: true, function: wordSet(`il lo la i gli le di da del della dei delle e con per senza in un una o al alla`),
		modifiers: wordSet(`nero nera nere bianco bianca bianche rosso rossa blu verde giallo grigio grigia marrone rosa viola uomo donna bambino bambina ragazzo ragazza neonato cotone pelle legno acciaio inox metallo plastica vetro lana seta set confezione pezzi taglia grande piccolo nuovo`)},
	{code: "ja", stem: keep, spaceless: true, modifiers: wordSet(`ブラック ホワイト レッド ブルー グレー 黒 白 赤 青 緑 レディース メンズ キッズ 軽量 大容量 セット 本 個 枚 新品`)},
	{code: "nl", stem: snowball(dutch.Stem), compounds: true, function: wordSet(`en met voor van het een zonder uit op te of de`),
		modifiers: wordSet(`zwart witte wit rood blauw groen geel grijs bruin roze dames heren kinderen meisjes jongens katoen leer hout staal metaal kunststof glas wol zijde set pak stuks maat groot klein nieuw`)},
	{code: "no", stem: snowball(norwegian.Stem), compounds: true, function: wordSet(`og med til av uten fra pa eller den det en et i`),
		modifiers: wordSet(`svart hvit rod bla gronn gul gra brun rosa dame damer herre herrer barn bomull skinn tre stal metall plast glass sett pakke stk stor liten ny`)},
	{code: "pl", stem: keep, function: wordSet(`i z do na dla ze od bez w lub oraz`),
		modifiers: wordSet(`czarny czarna bialy biala czerwony czerwona niebieski niebieska zielony zolty szary brazowy rozowy damska damskie meska meskie dziecieca dzieciece bawelna skora drewno stal metal plastik szklo zestaw sztuk szt duzy maly nowy`)},
	{code: "pt", stem: snowball(portuguese.Stem), nounFirst: true, function: wordSet(`o a os as de do da dos das e com para por sem em um uma no na ou`),
		modifiers: wordSet(`preto preta branco branca vermelho azul verde amarelo cinza marrom rosa roxo homem mulher masculino feminino feminina infantil bebe algodao couro madeira aco metal plastico vidro la seda kit pacote unidades tamanho grande pequeno novo`)},
	{code: "ru", stem: snowball(russian.Stem), function: wordSet(`и с для на из без в от по или со к`),
		modifiers: wordSet(`черный черная белый белая красный красная синий синяя зеленый желтый серый коричневый розовый женский женская женские женское мужской мужская мужские мужское детский детская детские хлопок кожа дерево сталь металл пластик стекло набор комплект шт большой маленький новый`)},
	{code: "sv", stem: snowball(swedish.Stem), compounds: true, function: wordSet(`och med till av utan fran pa eller den det en ett i for`),
		modifiers: wordSet(`svart vit rod bla gron gul gra brun rosa dam herr barn bomull lader tra stal metall plast glas set pack st stor liten ny`)},
	{code: "tr", stem: snowball(turkish.Stem), function: wordSet(`ve ile icin bir`),
		modifiers: wordSet(`siyah beyaz kirmizi mavi yesil sari gri kahverengi pembe kadin erkek cocuk bebek pamuk deri ahsap celik metal plastik cam set paket adet buyuk kucuk yeni`)},
	{code: "zh", stem: keep, spaceless: true, modifiers: wordSet(`黑色 白色 红色 蓝色 绿色 灰色 女士 男士 儿童 女 男 套装 新款`)},
}

// role is the function of a word in titles of the language, in addition to roles.
func (l *language) role(word []byte) role {
	switch {
	case l == english:
		return 0
	case l.modifiers[string(word)]:
		return modifier
	case l.function[string(word)] && roles[string(word)]&(link|genitive) == 0:
		return stopWord
	}
	return 0
}

const (
	leastPart  = 4 // bytes of the last part of a compound
	leastFirst = 3 // bytes of the first part
	maxJoint   = 2 // bytes between the two parts
)

// lastParts yields the indexes at which the last part of a compound may begin, the lowest first; none for languages without
// compounds.
func (l *language) lastParts(word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := leastFirst; l.compounds && from+leastPart <= len(word) && yield(from); from++ {
		}
	}
}

// keep returns the word unchanged. It is for languages without a stemmer.
func keep(word []byte) []byte { return word }

// snowball returns a stemmer of the Snowball project. Folded words have no accents, so it misses a few endings.
func snowball(step func(*snowballstem.Env) bool) func(word []byte) []byte {
	return func(word []byte) []byte {
		env := snowballstem.NewEnv(string(word))
		step(env)
		return append(word[:0], env.Current()...)
	}
}
