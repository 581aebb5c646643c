using System.Security.Claims;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Components shown in docs/authentication.md.</summary>
internal static class ComponentSnippets
{
    // docs: components
    public static FastPortServerComponents Components(IReadOnlyDictionary<string, string> namesByToken) => new()
    {
        Authenticator = (hello, _) => new ValueTask<AuthenticationResult>(
            namesByToken.TryGetValue(hello.Token, out string? name)
                ? AuthenticationResult.Accept(new ClaimsPrincipal(new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], "token")))
                : AuthenticationResult.Refuse()),
        Authorizer = (request, _) => new ValueTask<bool>(
            request.Type != HandlerSnippets.Reverse || request.Session.User?.Identity?.Name == "admin"),
    };

    public static FastPortServer Server(
        FastPortServerOptions options, MessageHandlers handlers, IReadOnlyDictionary<string, string> namesByToken) =>
        new(options, handlers, Components(namesByToken));

    // docs: end
}
