using System.Security.Claims;

namespace FastPort.Security.Identities;

/// <summary>Makes identities.</summary>
internal static class UserIdentity
{
    /// <summary>An identity.</summary>
    /// <param name="scheme">How the peer has authenticated.</param>
    /// <param name="name">Its name.</param>
    /// <param name="roles">Its roles.</param>
    public static ClaimsPrincipal Of(string scheme, string name, IEnumerable<string> roles) => new(new ClaimsIdentity(
        [new Claim(ClaimTypes.Name, name), .. roles.Select(static role => new Claim(ClaimTypes.Role, role))], scheme));
}
