namespace FastPort.Sessions;

/// <summary>
/// An <see cref="Authenticator"/> as a service of the host: <c>services.AddScoped&lt;IAuthenticator, MyAuthenticator&gt;()</c>. Singletons
/// serve all sessions at the same time;
/// others get a scope and an instance for each Hello.
/// </summary>
public interface IAuthenticator
{
    /// <summary>Turns Hello's token into an identity or a refusal.</summary>
    /// <param name="hello">What the peer said.</param>
    /// <param name="cancellationToken">Canceled when the session ends first, or the answer is not waited for any longer.</param>
    ValueTask<AuthenticationResult> AuthenticateAsync(HelloRequest hello, CancellationToken cancellationToken);
}
