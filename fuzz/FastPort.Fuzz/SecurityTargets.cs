using System.Text;
using FastPort.Security.Identities;
using FastPort.Security.Policies;

namespace FastPort.Fuzz;

/// <summary>Files and tokens of the security: an error is a sentence, never an exception.</summary>
internal static class SecurityTargets
{
    public static Target Policy() => new(
        "policy",
        static input => Check(PolicyReader.Read(input, _problems), static policy =>
        {
            _ = policy.For(null).Describe().Count();
            _ = policy.For(UserIdentity.Of("fuzz", "anna", ["operator"])).Allow(0x1000, "name");
        }),
        static () => Texts(
            """{ "rules": [ { "for": ["role:operator", "user:a*", "*"], "send": ["0x1000-0x10FF", "7"], "peers": true } ] }""",
            """{ "rules": [ { "for": ["anonymous"], "relayTo": ["b"], "publish": ["n/*"], "subscribe": ["n/*"], "note": "x" } ] }""",
            """{ "rules": [ { "for": ["authenticated"], "readTags": ["*"], "writeTags": ["a"], "callMethods": [], }, ] }"""));

    public static Target Users() => new(
        "users",
        static input => Check(UserFile.Read(input, _problems), static _ => { }),
        static () => Texts(
            "# staff\nanna:$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA:operator,night\n"));

    public static Target Keys() => new(
        "keys",
        static input => Check(TokenKeys.Read(input, _problems), static _ => { }),
        static () => Texts(
            """{ "keys": [ { "kty": "EC", "crv": "P-256", "kid": "a", "x": "AAAA", "y": "AAAA" }, { "kty": "oct", "k": "AAAA" } ] }""",
            """{ "keys": [ { "kty": "RSA", "n": "AQAB", "e": "AQAB", "use": "sig", "alg": "RS256" } ] }""",
            "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n"));

    public static Target Token() => new(
        "token",
        static input =>
        {
            string token = Encoding.UTF8.GetString(input);
            _ = PasswordAuthentication.IsFor(token) && PasswordAuthentication.TryRead(token, out _, out _);
        },
        static () => Texts("Basic YTpi", "basic YTpi", "Basic", "a.b.c"));

    [ThreadStatic]
    private static List<string>? _list;

    private static List<string> _problems => _list = [];

    private static void Check<T>(T? read, Action<T> use)
        where T : class
    {
        Finding.Unless(read is null == _list!.Count > 0, "There is neither a result nor a problem, or both.");
        if (read is not null)
        {
            use(read);
        }
    }

    private static IEnumerable<byte[]> Texts(params string[] texts) => texts.Select(Encoding.UTF8.GetBytes);
}
