using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace FastPort.Configuration;

/// <summary>
/// Reads the options of one name from a section and checks them after all other configuration. Reports all problems together: those of the
/// section (unknown keys, values that cannot be read or are out of range) and those of the resulting values.
/// </summary>
internal sealed class SectionOptions<TOptions>(
    string name, IConfigurationSection? section, string path)
    : IConfigureNamedOptions<TOptions>, IValidateOptions<TOptions>
    where TOptions : class, IDescribedOptions, new()
{
    public void Configure(TOptions options) => Configure(Options.DefaultName, options);

    public void Configure(string? optionsName, TOptions options)
    {
        if (section is not null && optionsName == name)
        {
            Visit(options, [], section, checksTogether: false);
        }
    }

    public ValidateOptionsResult Validate(string? optionsName, TOptions options)
    {
        if (optionsName != name)
        {
            return ValidateOptionsResult.Skip;
        }

        List<string> problems = [];
        if (section is not null)
        {
            // Reads into options that are discarded: a wrong value in the section is reported even if code has replaced it since. Options
            // that must match each other are checked only below, on the combined values of section and code.
            Visit(new TOptions(), problems, section, checksTogether: false);
        }

        Visit(options, problems, configured: null, checksTogether: true);
        return problems.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(problems.Distinct(StringComparer.Ordinal));
    }

    private void Visit(TOptions options, List<string> problems, IConfigurationSection? configured, bool checksTogether) =>
        OptionSection.Visit(path, problems, configured, options.Describe, checksTogether);
}

/// <summary>Registers <see cref="IDescribedOptions"/>.</summary>
internal static class SectionOptions
{
    /// <summary>
    /// Adds options that are read from the section, if any, and checked when the host starts. The start's
    /// <see cref="OptionsValidationException"/> names all problems, also those of other options.
    /// </summary>
    /// <param name="services">The services to add to.</param>
    /// <param name="name">The options' name; empty for none.</param>
    /// <param name="section">The section to read; null for none.</param>
    /// <param name="path">The section's path, for messages.</param>
    public static OptionsBuilder<TOptions> Add<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] TOptions>(
        IServiceCollection services, string name, IConfigurationSection? section, string path)
        where TOptions : class, IDescribedOptions, new()
    {
        var options = new SectionOptions<TOptions>(name, section, path);
        services.AddSingleton<IConfigureOptions<TOptions>>(options);
        services.AddSingleton<IValidateOptions<TOptions>>(options);
        OptionsCheck.AddTo(services);
        return services.AddOptions<TOptions>(name).ValidateOnStart();
    }
}
