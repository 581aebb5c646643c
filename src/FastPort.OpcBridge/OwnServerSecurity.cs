using System.Net;
using System.Runtime.CompilerServices;
using System.Security.Claims;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using FastPort.OpcBridge.Configuration;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Security;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.OpcBridge;

/// <summary>
/// Users, policy and bans of the host for the bridge's own OPC UA server: it accepts the same users as the FastPort server, with the same
/// permissions for tags. The bridge itself is also a user: it reads the simulation there. Thread-safe.
/// </summary>
internal sealed class OwnServerSecurity : IOpcUaUsers
{
    private const string BridgeName = "FastPort.OpcBridge";

    private readonly UserDirectory _users;
    private readonly string _password = Convert.ToBase64String(RandomNumberGenerator.GetBytes(32));
    private readonly bool _hasBridge;
    private readonly ClaimsPrincipal _bridge = new(new ClaimsIdentity("bridge"));

    private OwnServerSecurity(UserDirectory users, bool hasBridge) => (_users, _hasBridge) = (users, hasBridge);

    public bool HasNames => _hasBridge || _users.HasPasswords;

    public bool HasCertificates => _users.HasCertificates;

    /// <summary>Applies the host's security. Not inlined: see <c>SecuritySection</c>.</summary>
    /// <param name="options">The options of the server.</param>
    /// <param name="provider">The host's services.</param>
    /// <param name="settings">The bridge's; its simulated endpoint gets the bridge's user.</param>
    /// <param name="tagOf">The name of the tag that a variable has; null for none.</param>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Apply(
        OpcUaServerOptions options, IServiceProvider provider, BridgeSettings settings, Func<VariableNode, string?> tagOf)
    {
        UserDirectory users = provider.GetRequiredService<UserDirectory>();
        var own = new OwnServerSecurity(users, settings.IsSimulated);
        options.Users = own;
        options.AllowAnonymous &= users.AllowsAnonymous;
        options.Bans = provider.GetRequiredService<FastPortServer>().Bans;
        if (settings.IsSimulated)
        {
            // It trusts the server's certificate as its own: they are one application.
            OpcUaClientOptions client = settings.Tags.Endpoints[0].Client;
            (client.UserName, client.Password) = (BridgeName, own._password);
            client.Certificates.Directory = options.Certificates.Directory;
        }

        if (provider.GetService<ServerPolicy>() is { } policy)
        {
            options.AuthorizeVariable = (in VariableAccess access) => own.Allows(policy, tagOf, access);
        }
    }

    public ValueTask<ClaimsPrincipal?> FindAsync(string name, string password, EndPoint? peer, CancellationToken cancellationToken) =>
        _hasBridge && name == BridgeName && IsPassword(password)
            ? new(_bridge)
            : _users.FindAsync(name, password, peer, cancellationToken);

    public ValueTask<ClaimsPrincipal?> FindAsync(X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken) =>
        _users.FindAsync(certificate, peer, cancellationToken);

    private bool IsPassword(string password) =>
        CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(password), Encoding.UTF8.GetBytes(_password));

    // Variables that are not tags, such as the server's own state, are not subject to the policy.
    private bool Allows(ServerPolicy policy, Func<VariableNode, string?> tagOf, in VariableAccess access)
    {
        if (access.User == _bridge || tagOf(access.Variable) is not { } tag)
        {
            return true;
        }

        PolicyAction action = access.IsWrite ? PolicyAction.WriteTags : PolicyAction.ReadTags;
        return access.IsAttempt
            ? policy.Authorize(access.User, access.Peer, action, tag)
            : policy.Allows(access.User, action, tag);
    }
}
