package words

import (
	"iter"
	"sync"

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

// Language has the rules for the words and titles of a language.
type Language struct {
	Code      string // of ISO 639-1
	Stem      func(word []byte) []byte
	Function  map[string]bool // function words, folded; they show the language, and are in no phrase
	Modifiers map[string]bool // words for colours, materials, sizes and buyers, folded
	NounFirst bool            // the noun comes before the words that qualify it: "robe longue"
	Compounds bool            // nouns are joined to one word, the head last: "Bratpfanne"
	Spaceless bool            // there are no spaces between words

	once     sync.Once
	variants map[string]string // see Variants
}

// English is the language of the taxonomies.
var English = &Language{Code: "en", Stem: Stem, Function: Set(`the and for with of in from by on to without`)}

// Languages are the languages with names of product categories.
var Languages = []*Language{
	{Code: "cs", Stem: keep, Function: Set(`pro na se ze do od pri bez nebo`),
		Modifiers: Set(`cerna bila cervena modra zelena zluta seda hneda ruzova damske damska panske panska detske detska bavlna kuze drevo ocel kov plast sklo sada baleni kus kusu velka mala nova`)},
	{Code: "da", Stem: snowball(danish.Stem), Compounds: true, Function: Set(`og med til af uden fra paa eller den det en et`),
		Modifiers: Set(`sort hvid rod bla gron gul gra brun lyserod dame damer herre herrer born baby bomuld laeder trae stal metal plast glas saet pakke stk stor lille ny`)},
	{Code: "de", Stem: snowball(german.Stem), Compounds: true, Function: Set(`und mit fur aus ohne zum zur der die das den dem fuer inkl ab im ein eine oder bei von`),
		Modifiers: Set(`schwarz weiss rot blau grun gelb grau braun rosa lila turkis bunt damen herren kinder madchen jungen baumwolle leder holz edelstahl stahl metall kunststoff glas wolle seide set pack packung stuck teilig teiliges gross klein neu zoll gr grosse`)},
	{Code: "es", Stem: snowball(spanish.Stem), NounFirst: true, Function: Set(`el la los las de del y con para por sin en un una o`),
		Modifiers: Set(`negro negra blanco blanca rojo roja azul azules verde amarillo gris marron rosa morado hombre mujer nino nina ninos bebe algodon piel cuero madera acero metal plastico vidrio lana seda juego pack unidades talla grande pequeno nuevo`)},
	{Code: "fr", Stem: snowball(french.Stem), NounFirst: true, Function: Set(`le la les de du des et avec pour en sans a au aux un une sur ou dans`),
		Modifiers: Set(`noir noire blanc blanche rouge bleu bleue vert verte jaune gris grise marron rose violet homme femme enfant fille garcon bebe coton cuir bois acier inox metal plastique verre laine soie lot pack pieces taille grand grande petit petite neuf`)},
	{Code: "it", Stem: snowball(italian.Stem), NounFirst: true, Function: Set(`il lo la i gli le di da del della dei delle e con per senza in un una o al alla`),
		Modifiers: Set(`nero nera nere bianco bianca bianche rosso rossa blu verde giallo grigio grigia marrone rosa viola uomo donna bambino bambina ragazzo ragazza neonato cotone pelle legno acciaio inox metallo plastica vetro lana seta set confezione pezzi taglia grande piccolo nuovo`)},
	{Code: "ja", Stem: keep, Spaceless: true, Modifiers: Set(`ブラック ホワイト レッド ブルー グレー 黒 白 赤 青 緑 レディース メンズ キッズ 軽量 大容量 セット 本 個 枚 新品`)},
	{Code: "nl", Stem: snowball(dutch.Stem), Compounds: true, Function: Set(`en met voor van het een zonder uit op te of de`),
		Modifiers: Set(`zwart witte wit rood blauw groen geel grijs bruin roze dames heren kinderen meisjes jongens katoen leer hout staal metaal kunststof glas wol zijde set pak stuks maat groot klein nieuw`)},
	{Code: "no", Stem: snowball(norwegian.Stem), Compounds: true, Function: Set(`og med til av uten fra pa eller den det en et i`),
		Modifiers: Set(`svart hvit rod bla gronn gul gra brun rosa dame damer herre herrer barn bomull skinn tre stal metall plast glass sett pakke stk stor liten ny`)},
	{Code: "pl", Stem: keep, Function: Set(`i z do na dla ze od bez w lub oraz`),
		Modifiers: Set(`czarny czarna bialy biala czerwony czerwona niebieski niebieska zielony zolty szary brazowy rozowy damska damskie meska meskie dziecieca dzieciece bawelna skora drewno stal metal plastik szklo zestaw sztuk szt duzy maly nowy`)},
	{Code: "pt", Stem: snowball(portuguese.Stem), NounFirst: true, Function: Set(`o a os as de do da dos das e com para por sem em um uma no na ou`),
		Modifiers: Set(`preto preta branco branca vermelho azul verde amarelo cinza marrom rosa roxo homem mulher masculino feminino feminina infantil bebe algodao couro madeira aco metal plastico vidro la seda kit pacote unidades tamanho grande pequeno novo`)},
	{Code: "ru", Stem: snowball(russian.Stem), Function: Set(`и с для на из без в от по или со к`),
		Modifiers: Set(`черный черная белый белая красный красная синий синяя зеленый желтый серый коричневый розовый женский женская женские женское мужской мужская мужские мужское детский детская детские хлопок кожа дерево сталь металл пластик стекло набор комплект шт большой маленький новый`)},
	{Code: "sv", Stem: snowball(swedish.Stem), Compounds: true, Function: Set(`och med till av utan fran pa eller den det en ett i for`),
		Modifiers: Set(`svart vit rod bla gron gul gra brun rosa dam herr barn bomull lader tra stal metall plast glas set pack st stor liten ny`)},
	{Code: "tr", Stem: snowball(turkish.Stem), Function: Set(`ve ile icin bir`),
		Modifiers: Set(`siyah beyaz kirmizi mavi yesil sari gri kahverengi pembe kadin erkek cocuk bebek pamuk deri ahsap celik metal plastik cam set paket adet buyuk kucuk yeni`)},
	{Code: "zh", Stem: keep, Spaceless: true, Modifiers: Set(`黑色 白色 红色 蓝色 绿色 灰色 女士 男士 儿童 女 男 套装 新款`)},
}

const (
	leastPart  = 4 // bytes of the last part of a compound
	leastFirst = 3 // bytes of the first part
	maxJoint   = 2 // bytes between the two parts
)

// LastParts yields the indexes at which the last part of a compound may begin, the lowest first; none for languages without
// compounds.
func (l *Language) LastParts(word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := leastFirst; l.Compounds && from+leastPart <= len(word) && yield(from); from++ {
		}
	}
}

// FirstParts yields the first parts of a compound whose last part begins at from, the longest first. Up to two letters may join
// the two parts: "Arbeit-s-jacke", "Sonne-n-brille".
func FirstParts(word string, from int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for joint := 0; joint <= maxJoint && from-joint >= leastFirst && yield(word[:from-joint]); joint++ {
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
