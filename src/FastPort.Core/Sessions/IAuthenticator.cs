namespace FastPort;

/// <summary>
/// An <see cref="Authenticator"/> as a service of the host: <c>services.AddScoped&lt;IAuthenticator, MyAuthenticator&gt;()</c>. A singleton
/// serves all sessions at the same time; with any other lifetime, each Hello gets its own scope and instance.
/// </summary>
public interface IAuthenticator
{
    /// <summary>Turns Hello's token into an identity or a refusal.</summary>
    /// <param name="hello">The contents of the Hello.</param>
    /// <param name="cancellationToken">Canceled when the session ends first, or the time for the answer is over.</param>
    ValueTask<AuthenticationResult> AuthenticateAsync(HelloRequest hello, CancellationToken cancellationToken);
}
